import { type PreparedSelector, prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { type Amounts, NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import { quantitySign } from '#shared/domain/quantity/quantity.ts';
import {
  DEFAULT_DELAY_MS,
  type Queue,
  type QueueAmounts,
  queueAmounts,
  ROOT_QUEUE,
} from '#shared/domain/queue/queue.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import type { QueueDirectory } from '#shared/domain/queueing/find-queue.ts';
import { delayOf } from '#shared/domain/queueing/queue-settings.ts';
import { readSelector } from '#shared/kube/decode/decode-scheduling.ts';
import {
  type Decoded,
  decodeObject,
  readAmounts,
  readBoolean,
  readChoice,
  readInteger,
  readPart,
  readText,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { encodeAmounts, encodeObject, encodeSelector, present } from './encode-fields.ts';

export const QUEUE_POLICIES = ['Default', 'Fence', 'Disabled'] as const;
export const QUEUE_ORDERINGS = ['BestEffort', 'Strict'] as const;
const MAX_WEIGHT = 10_000;

/** The spec of a Queue as it was written: what it does not say is absent or empty. */
export interface QueueObject {
  readonly name: string;
  readonly generation: number;
  readonly parent: string | undefined;
  readonly weight: number;
  readonly guaranteed: Amounts;
  readonly max: Amounts;
  readonly policy: (typeof QUEUE_POLICIES)[number] | undefined;
  /** Of any text: one that is no duration means the default and is reported (S2-33). */
  readonly delay: string | undefined;
  readonly preferNear: boolean;
  readonly ordering: (typeof QUEUE_ORDERINGS)[number] | undefined;
  /** Absent, it selects no namespace; empty, every one. */
  readonly namespaces: PreparedSelector;
  /** Of the root alone; `undefined` means what the nodes have. */
  readonly capacity: Amounts | undefined;
}

/** Reads the spec of a `plimsoll.dev/v1alpha1` Queue. */
export function decodeQueue(raw: unknown): Decoded<QueueObject> {
  return decodeObject(raw, (object) => ({
    ...readPart(object, 'metadata', readMetadata),
    ...readPart(object, 'spec', readSpec),
  }));
}

function readMetadata(metadata: WireObject): Pick<QueueObject, 'name' | 'generation'> {
  return { name: readText(metadata, 'name') ?? '', generation: readInteger(metadata, 'generation') ?? 0 };
}

function readSpec(spec: WireObject): Omit<QueueObject, 'name' | 'generation'> {
  return {
    parent: readText(spec, 'parent'),
    weight: readWeight(spec),
    guaranteed: readShares(spec, 'guaranteed') ?? NO_AMOUNTS,
    max: readShares(spec, 'max') ?? NO_AMOUNTS,
    ...readPart(spec, 'preemption', readPreemption),
    ordering: readChoice(spec, 'ordering', QUEUE_ORDERINGS),
    namespaces: prepareSelector(readSelector(spec, 'namespaceSelector')),
    capacity: readShares(spec, 'capacity'),
  };
}

function readPreemption(preemption: WireObject): Pick<QueueObject, 'policy' | 'delay' | 'preferNear'> {
  return {
    policy: readChoice(preemption, 'policy', QUEUE_POLICIES),
    delay: readText(preemption, 'delay'),
    preferNear: readBoolean(preemption, 'preferNear'),
  };
}

function readWeight(spec: WireObject): number {
  const weight = readInteger(spec, 'weight') ?? 1;
  if (weight >= 0 && weight <= MAX_WEIGHT) return weight;
  return refuseField('weight', `expected 0 to ${MAX_WEIGHT}, got ${weight}`);
}

function readShares(spec: WireObject, key: string): Amounts | undefined {
  const amounts = readAmounts(spec, key);
  for (const [name, amount] of amounts ?? NO_AMOUNTS) {
    if (quantitySign(amount) < 0) return refuseField(`${key}.${name}`, 'expected at least 0');
  }
  return amounts;
}

/** The object as the API server stores it, without its status; what is absent or empty is left out. */
export function encodeQueue(queue: QueueObject): object {
  const { name, generation, policy, delay, preferNear, namespaces, ...rest } = queue;
  const preemption = present({ policy, delay, preferNear: preferNear ? true : undefined });
  const spec = present({
    parent: rest.parent,
    weight: rest.weight,
    guaranteed: amountsUnlessEmpty(rest.guaranteed),
    max: amountsUnlessEmpty(rest.max),
    preemption: Object.keys(preemption).length === 0 ? undefined : preemption,
    ordering: rest.ordering,
    namespaceSelector: namespaces.written && encodeSelector(namespaces.written),
    capacity: rest.capacity && encodeAmounts(rest.capacity),
  });
  return encodeObject('Queue', { name, generation: generation === 0 ? undefined : generation }, { spec });
}

function amountsUnlessEmpty(amounts: Amounts): object | undefined {
  return amounts.size === 0 ? undefined : encodeAmounts(amounts);
}

/** The queues in their tree; what an object leaves out has its default. */
export function queueDirectory(objects: readonly QueueObject[]): QueueDirectory {
  const tree = createQueueTree(objects.map(queueOf));
  return { tree, selectors: new Map(objects.map(({ name, namespaces }) => [name, namespaces])) };
}

function queueOf(object: QueueObject): Queue {
  const { name, parent, weight, guaranteed, max, policy = 'Default', delay, preferNear, ordering } = object;
  return {
    ...{ name, parent, weight },
    guaranteed: queueAmounts(guaranteed),
    max: queueAmounts(max),
    preemption: { policy, delayMs: delayOf(delay) ?? DEFAULT_DELAY_MS, preferNear },
    ordering: ordering ?? 'BestEffort',
  };
}

/** What the queue root declares that there is to share. */
export function declaredCapacity(objects: readonly QueueObject[]): QueueAmounts | undefined {
  const capacity = objects.find(({ name }) => name === ROOT_QUEUE)?.capacity;
  return capacity && queueAmounts(capacity);
}
