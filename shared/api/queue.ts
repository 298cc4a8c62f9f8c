import { type PreparedSelector, prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { type Amounts, NO_AMOUNTS, quantitySign } from '#shared/domain/quantity/quantity.ts';
import {
  DEFAULT_DELAY_MS,
  type Queue,
  type QueueAmounts,
  queueAmounts,
  ROOT_QUEUE,
} from '#shared/domain/queue/queue.ts';
import { childName, type NewChild } from '#shared/domain/queue/child-queues.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import type { QueueDirectory } from '#shared/domain/queue/find-queue.ts';
import { delayOf, type WrittenSettings } from '#shared/domain/queue/queue-settings.ts';
import { readSelector } from '#shared/kube/decode/decode-objects.ts';
import {
  type Decoded,
  decodeObject,
  readAmounts,
  readBoolean,
  readChoice,
  readInteger,
  readObject,
  readPart,
  readText,
  refuseField,
  type WireObject,
} from '#shared/kube/decode/wire-object.ts';
import { encodeAmounts, encodeObject, encodeSelector, present } from './fields.ts';

export const QUEUE_POLICIES = ['Default', 'Fence', 'Disabled'] as const;
export const QUEUE_ORDERINGS = ['BestEffort', 'Strict'] as const;
const MAX_WEIGHT = 10_000;

/** What a queue gets and gives, as written: unset fields are absent or empty. */
export interface QueueShare {
  readonly weight: number;
  readonly guaranteed: Amounts;
  readonly max: Amounts;
  readonly policy: (typeof QUEUE_POLICIES)[number] | undefined;
  /** Any text: one that is not a duration means the default and is reported (S2-33). */
  readonly delay: string | undefined;
  readonly preferNear: boolean;
  readonly ordering: (typeof QUEUE_ORDERINGS)[number] | undefined;
}

/** The spec of a Queue as it was written. */
export interface QueueObject extends QueueShare {
  readonly name: string;
  readonly generation: number;
  readonly parent: string | undefined;
  /** For the queues created below it, one for each namespace (S2-34). */
  readonly childTemplate: QueueShare | undefined;
  /** Absent, it selects no namespace; empty, every one. */
  readonly namespaces: PreparedSelector;
  /** Only for the root; `undefined` means what the nodes have. */
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
    ...readShare(spec),
    childTemplate: readObject(spec, 'childTemplate', readShare),
    namespaces: prepareSelector(readSelector(spec, 'namespaceSelector')),
    capacity: readAmountsOf(spec, 'capacity'),
  };
}

function readShare(spec: WireObject): QueueShare {
  return {
    weight: readWeight(spec),
    guaranteed: readAmountsOf(spec, 'guaranteed') ?? NO_AMOUNTS,
    max: readAmountsOf(spec, 'max') ?? NO_AMOUNTS,
    ...readPart(spec, 'preemption', readPreemption),
    ordering: readChoice(spec, 'ordering', QUEUE_ORDERINGS),
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

function readAmountsOf(spec: WireObject, key: string): Amounts | undefined {
  const amounts = readAmounts(spec, key);
  for (const [name, amount] of amounts ?? NO_AMOUNTS) {
    if (quantitySign(amount) < 0) return refuseField(`${key}.${name}`, 'expected at least 0');
  }
  return amounts;
}

/** The object as the API server stores it, without its status; what is absent or empty is left out. */
export function encodeQueue(queue: QueueObject): object {
  const { name, generation, parent, childTemplate, namespaces, capacity } = queue;
  const spec = present({
    parent,
    ...encodeShare(queue),
    childTemplate: childTemplate && encodeShare(childTemplate),
    namespaceSelector: namespaces.written && encodeSelector(namespaces.written),
    capacity: capacity && encodeAmounts(capacity),
  });
  return encodeObject('Queue', { name, generation: generation === 0 ? undefined : generation }, { spec });
}

/** The fields of a spec, or of the template in it. */
export function encodeShare({ weight, guaranteed, max, ordering, ...rest }: QueueShare): object {
  const { policy, delay, preferNear } = rest;
  const preemption = present({ policy, delay, preferNear: preferNear ? true : undefined });
  return present({
    weight,
    guaranteed: amountsUnlessEmpty(guaranteed),
    max: amountsUnlessEmpty(max),
    preemption: Object.keys(preemption).length === 0 ? undefined : preemption,
    ordering,
  });
}

function amountsUnlessEmpty(amounts: Amounts): object | undefined {
  return amounts.size === 0 ? undefined : encodeAmounts(amounts);
}

/** The Queue created from the template of its parent. */
export function queueFromTemplate(child: NewChild, template: QueueShare): QueueObject {
  return {
    ...template,
    ...(!child.isGuaranteed && { guaranteed: NO_AMOUNTS }),
    ...{ name: childName(child), parent: child.parent, generation: 0, childTemplate: undefined, capacity: undefined },
    namespaces: prepareSelector(undefined),
  };
}

/** The queues in their tree; unset fields have their defaults. */
export function queueDirectory(objects: readonly QueueObject[]): QueueDirectory {
  const tree = createQueueTree(objects.map(queueOf));
  return { tree, selectors: new Map(objects.map(({ name, namespaces }) => [name, namespaces])) };
}

function queueOf(object: QueueObject): Queue {
  const { name, parent, weight, guaranteed, max, policy = 'Default', delay, preferNear, ordering } = object;
  const { childTemplate } = object;
  return {
    ...{ name, parent, weight },
    guaranteed: queueAmounts(guaranteed),
    max: queueAmounts(max),
    preemption: { policy, delayMs: delayOf(delay) ?? DEFAULT_DELAY_MS, preferNear },
    ordering: ordering ?? 'BestEffort',
    ...(childTemplate && { childTemplate: { guaranteed: queueAmounts(childTemplate.guaranteed) } }),
  };
}

/** The settings of which some may have no effect. */
export function writtenSettings({ name, policy, delay, namespaces, ...amounts }: QueueObject): WrittenSettings {
  const { guaranteed, max, capacity, childTemplate } = amounts;
  const named = {
    ...{ guaranteed, max, capacity },
    ...{ 'childTemplate.guaranteed': childTemplate?.guaranteed, 'childTemplate.max': childTemplate?.max },
  };
  const types = Object.entries(named).flatMap(([field, of]) =>
    Array.from(of?.keys() ?? [], (type) => [field, type] as const),
  );
  return { name, policy, delay, isSelecting: namespaces.written !== undefined, types };
}

/** The total to share, as declared by the root queue. */
export function declaredCapacity(objects: readonly QueueObject[]): QueueAmounts | undefined {
  const capacity = objects.find(({ name }) => name === ROOT_QUEUE)?.capacity;
  return capacity && queueAmounts(capacity);
}
