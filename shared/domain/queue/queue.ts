import { type Amounts, type Quantity, quantityMilliValue, quantityValue } from '#shared/domain/quantity/quantity.ts';
import { isInBytes } from '#shared/domain/quantity/resource-columns.ts';
import { larger, type Whole } from '#shared/domain/quantity/whole.ts';

/**
 * Amounts of a queue by resource type, as integers: bytes of memory, ephemeral storage and huge pages, thousandths of
 * everything else. An absent type is zero in a guarantee, a request or a usage, and no limit in a maximum.
 */
export type QueueAmounts = ReadonlyMap<string, Whole>;

export const NO_QUEUE_AMOUNTS: QueueAmounts = new Map();

/**
 * How far the pods of a queue may look for victims, and whether other queues may find victims in it. Mechanisms S2-15
 * to S2-18, S2-32.
 */
export type QueuePolicy =
  | 'Default'
  /** Pods of the queue and of those below it take nothing from queues outside it. */
  | 'Fence'
  /** The queue and those below it neither take nor give (D-9). */
  | 'Disabled';

/**
 * How waiting pods of a queue are let in: `Strict` stops at the first that does not fit, `BestEffort` continues
 * (S1-12).
 */
export type QueueOrdering = 'BestEffort' | 'Strict';

/** A queue as an administrator describes it. */
export interface Queue {
  readonly name: string;
  /** `undefined` for the root and the queues right below it. */
  readonly parent: string | undefined;
  /** The weight relative to the siblings in dividing what the parent deserves; 0 means only the guarantee. */
  readonly weight: number;
  readonly guaranteed: QueueAmounts;
  readonly max: QueueAmounts;
  readonly preemption: QueuePreemption;
  readonly ordering: QueueOrdering;
  /** Queues are created below it, one for each namespace whose pods name it (S2-34); no pod is in the queue itself. */
  readonly childTemplate?: ChildTemplate;
}

/** The guarantee of a queue created from a template; no decision uses the rest of the template. */
export type ChildTemplate = Pick<Queue, 'guaranteed'>;

export interface QueuePreemption {
  readonly policy: QueuePolicy;
  /** How long a pod waits before other pods are evicted for it, in milliseconds. */
  readonly delayMs: number;
  /** Whether, between two equal choices, the giver nearer in the tree gives (S2-23). */
  readonly preferNear: boolean;
}

/** The queue above all others. It exists even without an object. */
export const ROOT_QUEUE = 'root';
/** Mechanism S2-33. */
export const DEFAULT_DELAY_MS = 30_000;
export const DEFAULT_WEIGHT = 1;
export const MAX_WEIGHT = 10_000;

/** A queue with only a name and a parent. */
export function plainQueue(name: string, parent?: string): Queue {
  return {
    name,
    parent,
    weight: DEFAULT_WEIGHT,
    guaranteed: NO_QUEUE_AMOUNTS,
    max: NO_QUEUE_AMOUNTS,
    preemption: { policy: 'Default', delayMs: DEFAULT_DELAY_MS, preferNear: false },
    ordering: 'BestEffort',
  };
}

/**
 * Kubernetes amounts as those of a queue, rounded up. The API server takes any status of a pod from its node, and an amount
 * below zero there would give the queue of the pod more than its maximum.
 */
export function queueAmounts(amounts: Amounts): QueueAmounts {
  const whole = new Map<string, Whole>();
  for (const [type, quantity] of amounts) {
    whole.set(type, larger(0, isInBytes(type) ? quantityValue(quantity) : quantityMilliValue(quantity)));
  }
  return whole;
}

/** An amount of a queue as Kubernetes writes it. */
export function queueQuantity(type: string, amount: Whole): Quantity {
  return isInBytes(type)
    ? { mantissa: amount, exponent: 0, format: 'BinarySI', spelling: undefined }
    : { mantissa: amount, exponent: -3, format: 'DecimalSI', spelling: undefined };
}
