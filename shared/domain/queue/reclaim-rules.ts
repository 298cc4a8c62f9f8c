import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';
import { queueQuantity, type QueueAmounts } from './queue.ts';
import type { RunningPod } from './queue-pod.ts';
import { parentAt, pathOf, queueAt, type QueueTree } from './queue-tree.ts';
import { excessOf, heldBy, keptOf, type Taker } from './taker.ts';
import { aboveMaximum, type QueueExcess, usedBy } from './usage.ts';

/** One rule of reclaim: what breaks it, and the sentence for that. */
export interface ReclaimRule<Subject> {
  readonly code: ReclaimRuleCode;
  /** The row of docs/contributing/mechanisms.md. */
  readonly row: string;
  isBroken(subject: Subject, taker: Taker): boolean;
  text(subject: Subject, taker: Taker): string;
}

export type ReclaimRuleCode =
  | 'NotAboveDelay'
  | 'NeverPreempts'
  | 'NotCharged'
  | 'AboveMaximum'
  | 'TakerDisabled'
  | 'TakerNotUnderGuarantee'
  | 'OwnQueue'
  | 'OutsideFence'
  | 'GiverDisabled'
  | 'GiverNotOverGuarantee'
  | 'OwnApplication'
  | 'HigherPriority'
  | 'DaemonSetPod'
  | 'AboveExcess';

/** Rules that keep the pod from taking anything. */
export const TAKER_RULES: readonly ReclaimRule<Taker>[] = [
  {
    code: 'NotCharged',
    row: 'S2-37',
    isBroken: ({ pod }) => !pod.isCharged,
    text: ({ pod }) => `the quotas of its namespace have not counted pod ${pod.name}`,
  },
  {
    code: 'NeverPreempts',
    row: 'S2-31',
    isBroken: ({ pod }) => !pod.mayPreempt,
    text: ({ pod }) => `the class of pod ${pod.name} never preempts`,
  },
  {
    code: 'AboveMaximum',
    row: 'S2-37',
    isBroken: (taker) => excessWith(taker, taker.queue).length > 0,
    text: (taker) => `with this pod queue ${nameOf(taker, taker.queue)} would be above its maximum`,
  },
  {
    code: 'TakerDisabled',
    row: 'S2-32',
    // A pod of a DaemonSet has no other node, so it keeps the last resort on its own node (D-9).
    isBroken: (taker) => !taker.pod.isDaemonSet && isDisabled(taker.tree, taker.queue),
    text: (taker) => `queue ${nameOf(taker, taker.queue)} takes no part in preemption between queues`,
  },
  {
    code: 'TakerNotUnderGuarantee',
    row: 'S2-12',
    isBroken: (taker) => !taker.types.some((type) => excessOf(taker, taker.queue, type) < 0),
    text: (taker) =>
      `queue ${nameOf(taker, taker.queue)} is not under its ${floorOf(taker)}${figures(taker, taker.queue)}`,
  },
  {
    code: 'NotAboveDelay',
    row: 'S2-20',
    isBroken: (taker) => taker.now - taker.pod.waitingSince < delayOf(taker),
    text: (taker) => {
      const waited = Math.max(0, taker.now - taker.pod.waitingSince) / 1_000;
      return `the pod has waited ${waited} s; other pods are evicted for it after ${delayOf(taker) / 1_000} s`;
    },
  },
];

/** Rules that keep a queue from giving, by number of the queue. */
export const GIVER_RULES: readonly ReclaimRule<number>[] = [
  {
    code: 'OwnQueue',
    row: 'S2-2',
    isBroken: (queue, taker) => queue === taker.queue,
    text: (queue, taker) => `queue ${nameOf(taker, queue)} is the pod's own`,
  },
  {
    code: 'GiverNotOverGuarantee',
    row: 'S2-13',
    isBroken: (queue, taker) => !taker.types.some((type) => excessOf(taker, queue, type) > 0),
    text: (queue, taker) => `queue ${nameOf(taker, queue)} is not over its ${floorOf(taker)}${figures(taker, queue)}`,
  },
  {
    code: 'OutsideFence',
    row: 'S2-15',
    isBroken: (queue, taker) => !pathOf(taker.tree, queue).includes(fenceOf(taker)),
    text: (queue, taker) =>
      `queue ${nameOf(taker, queue)} is over its ${floorOf(taker)} but outside the fence of queue ${nameOf(taker, fenceOf(taker))}`,
  },
  {
    code: 'GiverDisabled',
    row: 'S2-32',
    isBroken: (queue, taker) => !taker.pod.isDaemonSet && isDisabled(taker.tree, queue),
    text: (queue, taker) => `queue ${nameOf(taker, queue)} takes no part in preemption between queues`,
  },
];

/** Rules that keep a pod of a giving queue on its node, opt-outs aside. */
export const VICTIM_RULES: readonly ReclaimRule<RunningPod>[] = [
  {
    code: 'HigherPriority',
    row: 'S2-14',
    isBroken: (victim, { pod }) => victim.priority > pod.priority,
    text: ({ name, priority }, { pod }) => `pod ${name} has priority ${priority}, above ${pod.priority}`,
  },
  {
    code: 'OwnApplication',
    row: 'S2-11',
    isBroken: (victim, { pod }) => victim.application === pod.application,
    text: ({ name, application }) => `pod ${name} belongs to the same application ${application}`,
  },
  {
    code: 'DaemonSetPod',
    row: 'S2-29',
    isBroken: ({ isDaemonSet }) => isDaemonSet,
    text: ({ name }) => `pod ${name} would be created again on its node by its DaemonSet`,
  },
];

/** An amount that a queue loses with one of its pods. */
export interface Loss {
  readonly queue: number;
  readonly amounts: QueueAmounts;
}

/** Rules that protect every pod of a queue with this request. */
export const LOSS_RULES: readonly ReclaimRule<Loss>[] = [
  {
    code: 'AboveExcess',
    row: 'S2-22',
    isBroken: ({ queue, amounts }, taker) => leavesBelow(taker, queue, amounts),
    text: ({ queue, amounts }, taker) =>
      `queue ${nameOf(taker, queue)} would be below its ${floorOf(taker)}${figures(taker, queue, keptTypes(taker, queue, amounts))} without such a pod`,
  },
];

/** The first rule that is broken. */
export function findObjection<Subject>(
  rules: readonly ReclaimRule<Subject>[],
  subject: Subject,
  taker: Taker,
): ReclaimRule<Subject> | undefined {
  // A loop, because with 150,000 pods a closure for each takes as long as the rules.
  for (const rule of rules) if (rule.isBroken(subject, taker)) return rule;
  return undefined;
}

/** Whether a loss takes a queue below what it keeps of a type that it loses (S2-10). */
function leavesBelow(taker: Taker, queue: number, loss: QueueAmounts): boolean {
  for (const [type, lost] of loss) {
    const floor = lost > 0 ? keptOf(taker, queue, type) : undefined;
    if (floor !== undefined && minus(heldBy(taker, queue, type), lost) < floor) return true;
  }
  return false;
}

/** By how much a queue would be above its maximum with the pod, in the types that the pod requests. */
export function excessWith({ tree, usage, pod, types }: Taker, queue: number): QueueExcess {
  return aboveMaximum(queueAt(tree, queue), types, (type) => {
    return plus(usedBy(usage, queue, type), pod.requests.get(type) as Whole);
  });
}

/** The nearest fence at or above the taker, else the root, on which a policy changes nothing. */
export function fenceOf({ tree, above }: Taker): number {
  for (const queue of above) if (tree.queues[queue]?.preemption.policy === 'Fence') return queue;
  return 0;
}

/** Whether a queue or one above it, except the root, is switched off (D-9). */
function isDisabled(tree: QueueTree, queue: number): boolean {
  for (let at = queue; at > 0; at = parentAt(tree, at)) {
    if (queueAt(tree, at).preemption.policy === 'Disabled') return true;
  }
  return false;
}

function delayOf({ tree, queue }: Taker): number {
  return queueAt(tree, queue).preemption.delayMs;
}

/** The word for the amount that a queue is compared with. */
export function floorOf({ tree }: Pick<Taker, 'tree'>): string {
  return tree.floor ?? 'guarantee';
}

function nameOf({ tree }: Taker, queue: number): string {
  return queueAt(tree, queue).name;
}

/** The types that keep a queue from this loss. */
function keptTypes(taker: Taker, queue: number, amounts: QueueAmounts): readonly string[] {
  return [...amounts.keys()].filter((type) => leavesBelow(taker, queue, new Map([[type, amounts.get(type) ?? 0]])));
}

/** What a queue has of types, and what it is compared with. */
export function figures(taker: Taker, queue: number, types = taker.types): string {
  const parts = types.map((type) => {
    const used = formatQuantity(queueQuantity(type, heldBy(taker, queue, type)));
    const floor = formatQuantity(queueQuantity(type, taker.tree.queues[queue]?.guaranteed.get(type) ?? 0));
    return `${type} ${used} of ${floor}`;
  });
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
