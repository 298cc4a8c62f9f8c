import { z } from 'zod';
import { type PreparedSelector, prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import {
  DEFAULT_DELAY_MS,
  DEFAULT_WEIGHT,
  MAX_WEIGHT,
  type Queue,
  type QueueAmounts,
  queueAmounts,
  ROOT_QUEUE,
} from '#shared/domain/queue/queue.ts';
import { childName, type NewChild } from '#shared/domain/queue/child-queues.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import type { QueueDirectory } from '#shared/domain/queue/find-queue.ts';
import {
  DEFAULT_GANG_TIMEOUT_MS,
  delayOf,
  gangTimeoutOf,
  type WrittenSettings,
} from '#shared/domain/queue/queue-settings.ts';
import {
  DEFAULT_RECLAIM,
  RECLAIM_CHOICES,
  type ReclaimSettings,
  reclaimSettings,
} from '#shared/domain/queue/reclaim-settings.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { described } from './schema/crd-words.ts';
import { decodeKind, encodeKind, withoutAbsent } from './schema/decode-kind.ts';
import { amounts, integer, labelSelector, NAME, optionalAmounts, text } from './schema/fields.ts';

export const QUEUE_POLICIES = ['Default', 'Fence', 'Disabled'] as const;
export const QUEUE_ORDERINGS = ['BestEffort', 'Strict'] as const;
export const MAX_RESOURCES = 16;

/** The command line and SettingsEffective say more: the API server limits the cost of a rule. */
const REQUESTABLE = {
  rule: "self.all(name, name in ['cpu', 'memory', 'ephemeral-storage', 'pods'] || name.startsWith('hugepages-') || (name.contains('/') && !name.startsWith('requests.') && !name.startsWith('limits.') && !name.startsWith('count/')))",
  message: 'must name resources that pods request, such as cpu, memory or nvidia.com/gpu, or pods',
};
const GUARANTEES = { maxProperties: 7, 'x-kubernetes-validations': [REQUESTABLE] };
const RESOURCES = { maxProperties: MAX_RESOURCES, 'x-kubernetes-validations': [REQUESTABLE] };

/** What the descriptions of a queue and of the template of queues below it do not share. */
interface ShareTexts {
  readonly weight: string;
  readonly guaranteed: string;
  readonly max: string;
  readonly preemption: string;
  readonly policy: string;
  readonly delay: string;
}

/** What a queue gets and gives. */
function shareFields(texts: ShareTexts) {
  return {
    weight: described(integer(0, MAX_WEIGHT).default(DEFAULT_WEIGHT), texts.weight),
    guaranteed: amounts(texts.guaranteed, GUARANTEES),
    max: amounts(texts.max, RESOURCES),
    preemption: described(
      z.object({
        policy: described(z.enum(QUEUE_POLICIES).optional(), texts.policy),
        // Any text: one that is not a duration means the default and is reported (S2-33).
        delay: text(texts.delay, { maxLength: 64 }),
        preferNear: described(
          z.boolean().optional(),
          'Of two equal choices, take from the queue that is nearer in the tree.',
        ),
      }),
      texts.preemption,
    ).optional(),
    ordering: described(
      z.enum(QUEUE_ORDERINGS).optional(),
      'With BestEffort, which is the default, a pod that does not fit lets those behind it pass. With Strict they wait.',
    ),
  };
}

const WITHIN_MAX = {
  rule: '!has(self.max) || !has(self.guaranteed) || self.guaranteed.all(name, !(name in self.max) || !quantity(string(self.guaranteed[name])).isGreaterThan(quantity(string(self.max[name]))))',
  message: 'guaranteed must not be greater than max',
};
const WITHIN_GUARANTEED = {
  rule: '!has(self.childTemplate) || !has(self.childTemplate.guaranteed) || self.childTemplate.guaranteed.all(name, has(self.guaranteed) && name in self.guaranteed && !quantity(string(self.childTemplate.guaranteed[name])).isGreaterThan(quantity(string(self.guaranteed[name]))))',
  message:
    'childTemplate.guaranteed must not be greater than guaranteed, of which the queues below get their guarantees',
};

export const QUEUE_TEMPLATE = described(
  z.object(
    shareFields({
      weight: 'Share of what this queue deserves, relative to the other queues below it.',
      guaranteed:
        'What each queue deserves in any case, by resource name. Queues that are created when the guarantee of this queue is used up get none.',
      max: 'What the pods of each queue may request together, by resource name.',
      preemption: 'How each queue takes room back and gives it.',
      policy: 'With Fence, pods of the queue take no room from outside. With Disabled, they neither take nor give.',
      delay: 'How long a pod waits before room is taken for it, such as 30s, which is the default.',
    }),
  ),
  'Creates a queue below this one for each namespace whose pods are in this queue, at most 500, and removes it when it has had no pod for one hour. Created queues follow its changes, except in fields that another writer has changed.',
  { 'x-kubernetes-validations': [WITHIN_MAX] },
);

/** Any text: one that cannot be read means the default, and is reported. */
function reclaimChoice(field: keyof ReclaimSettings, description: string) {
  return text(description, { enum: RECLAIM_CHOICES[field], defaultValue: DEFAULT_RECLAIM[field] });
}

const RECLAIM = described(
  z.object({
    mode: reclaimChoice(
      'mode',
      'With Enforce, pods are evicted to make room for a pod whose queue is under its guarantee. DryRun logs which ones would be evicted. Disabled does neither.',
    ),
    by: reclaimChoice(
      'by',
      'Which queues reclaim. Guarantees: queues under their guarantee reclaim from queues over theirs. Shares: queues under their deserved share reclaim from queues over it.',
    ),
    overuse: reclaimChoice(
      'overuse',
      'With Evict, pods of a queue that has exceeded its maximum for longer than its delay are evicted, for example after the maximum was lowered, if mode is Enforce. With Keep they stay.',
    ),
    replacements: reclaimChoice(
      'replacements',
      'With First, replacements of evicted, preempted or lost pods go in before waiting pods of the same priority, for 60 s. With InTurn they wait in turn.',
    ),
  }),
  'Whether and how queues take room back. Only on the queue root. Changes take effect at once.',
);

export const QUEUE_SPEC = described(
  z.object({
    parent: text(
      'Queue that this one is part of. If absent, it is part of the queue root, which exists also without an object.',
      {
        minLength: 1,
        maxLength: 253,
      },
    ),
    ...shareFields({
      weight:
        'Share of what the parent deserves, relative to the other children. With 0 the queue gets its guarantee and no more.',
      guaranteed:
        'What the queue deserves in any case, by resource name, such as cpu or memory. A resource that is absent has no guarantee.',
      max: 'What the pods of the queue and of all queues below it may request together, by resource name. A resource that is absent has no limit.',
      preemption: 'How the queue takes room back and gives it.',
      policy:
        'With Fence, pods of this queue and of the queues below it take no room from outside. With Disabled, they neither take nor give. Has no effect on the queue root.',
      delay:
        'How long a pod waits before room is taken for it, such as 30s, which is the default. Only effective on a queue without children.',
    }),
    childTemplate: QUEUE_TEMPLATE.optional(),
    namespaceSelector: labelSelector(
      'Labels of the namespaces whose pods may use this queue. If absent, it selects no namespace. If empty, it selects every namespace.',
    ),
    capacity: optionalAmounts(
      'What there is to share, by resource name. Only on the queue root. If absent, the allocatable resources of the nodes that take new pods, less what pods outside of queues take there. Set it where an autoscaler adds nodes.',
      { ...RESOURCES, minProperties: 1 },
    ),
    reclaim: RECLAIM.optional(),
    // Any text: one that is not a duration means the default and is reported.
    gangTimeout: text(
      'How long a gang may hold room while fewer of its pods than run together have a node, such as 60s, which is the default. Its pods are evicted so early that they have ended by then, and wait again. Only on the queue root.',
      { maxLength: 64 },
    ),
  }),
  'Place in the tree, share, and whose pods the queue takes.',
  { 'x-kubernetes-validations': [WITHIN_MAX, WITHIN_GUARANTEED] },
);

/** What a queue gets and gives, as written. */
export type QueueShare = z.output<typeof QUEUE_TEMPLATE>;

/** The spec of a Queue as it was written. */
export interface QueueObject extends Omit<z.output<typeof QUEUE_SPEC>, 'namespaceSelector'> {
  readonly name: string;
  readonly generation: number;
  /** Absent, it selects no namespace; empty, every one. */
  readonly namespaces: PreparedSelector;
}

const QUEUE = z.codec(
  z.object({ metadata: NAME.extend({ generation: z.int().optional() }), spec: QUEUE_SPEC }),
  z.custom<QueueObject>(),
  {
    decode: ({ metadata: { name = '', generation = 0 }, spec: { namespaceSelector, ...spec } }) => ({
      ...spec,
      name,
      generation,
      namespaces: prepareSelector(namespaceSelector),
    }),
    encode: ({ name, generation, namespaces, ...spec }) => ({
      metadata: { name, generation: generation === 0 ? undefined : generation },
      spec: { ...spec, namespaceSelector: namespaces.written },
    }),
  },
);

/** Reads the spec of a `plimsoll.dev/v1alpha1` Queue. */
export function decodeQueue(raw: unknown): Decoded<QueueObject> {
  return decodeKind(QUEUE, raw);
}

/** The object as the API server stores it, without its status. */
export function encodeQueue(queue: QueueObject): object {
  return encodeKind('Queue', QUEUE, queue);
}

/** The fields of a spec, or of the template in it. */
export function encodeShare(share: QueueShare): object {
  return withoutAbsent(z.encode(QUEUE_TEMPLATE, share));
}

/** The Queue created from the template of its parent. */
export function queueFromTemplate(child: NewChild, template: QueueShare): QueueObject {
  return {
    ...template,
    ...(!child.isGuaranteed && { guaranteed: NO_AMOUNTS }),
    name: childName(child),
    parent: child.parent,
    generation: 0,
    capacity: undefined,
    reclaim: undefined,
    gangTimeout: undefined,
    namespaces: prepareSelector(undefined),
  };
}

/** The queues in their tree; unset fields have their defaults. */
export function queueDirectory(objects: readonly QueueObject[]): QueueDirectory {
  const tree = createQueueTree(objects.map(queueOf));
  return { tree, selectors: new Map(objects.map(({ name, namespaces }) => [name, namespaces])) };
}

function queueOf(object: QueueObject): Queue {
  const { name, parent, weight, guaranteed, max, ordering, childTemplate } = object;
  const { policy = 'Default', delay, preferNear = false } = object.preemption ?? {};
  return {
    name,
    parent,
    weight,
    guaranteed: queueAmounts(guaranteed),
    max: queueAmounts(max),
    preemption: { policy, delayMs: delayOf(delay) ?? DEFAULT_DELAY_MS, preferNear },
    ordering: ordering ?? 'BestEffort',
    ...(childTemplate && { childTemplate: { guaranteed: queueAmounts(childTemplate.guaranteed) } }),
  };
}

/** The settings of which some may have no effect. */
export function writtenSettings(queue: QueueObject): WrittenSettings {
  const { name, preemption, namespaces, guaranteed, max, capacity, childTemplate, reclaim, gangTimeout } = queue;
  const named = {
    guaranteed,
    max,
    capacity,
    'childTemplate.guaranteed': childTemplate?.guaranteed,
    'childTemplate.max': childTemplate?.max,
  };
  const types = Object.entries(named).flatMap(([field, of]) =>
    Array.from(of?.keys() ?? [], (type) => [field, type] as const),
  );
  const { policy, delay } = preemption ?? {};
  return { name, policy, delay, isSelecting: namespaces.written !== undefined, types, reclaim, gangTimeout };
}

/** The total to share, as declared by the root queue. */
export function declaredCapacity(objects: readonly QueueObject[]): QueueAmounts | undefined {
  const capacity = rootOf(objects)?.capacity;
  return capacity && queueAmounts(capacity);
}

/** Whether and how queues take room back, as the root queue says. */
export function declaredReclaim(objects: readonly QueueObject[]): ReclaimSettings {
  return reclaimSettings(rootOf(objects)?.reclaim);
}

/** How long a gang may hold room with too few pods on nodes, as the root queue says. */
export function declaredGangTimeout(objects: readonly QueueObject[]): number {
  return gangTimeoutOf(rootOf(objects)?.gangTimeout) ?? DEFAULT_GANG_TIMEOUT_MS;
}

function rootOf(objects: readonly QueueObject[]): QueueObject | undefined {
  return objects.find(({ name }) => name === ROOT_QUEUE);
}
