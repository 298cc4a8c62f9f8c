import { finish } from '#shared/domain/base/steps.ts';
import { plus, times, type Whole } from '#shared/domain/quantity/whole.ts';
import { whyWaiting } from '#shared/domain/queue/let-in.ts';
import { makeRoomInSteps } from '#shared/domain/queue/make-room.ts';
import { isLeaf, pathOf } from '#shared/domain/queue/queue-tree.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import { usedBy } from '#shared/domain/queue/usage.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { isWaiting } from '#shared/decide/queues/queued-pod.ts';
import { readRoomState, type RoomInput } from '#shared/decide/queues/room-state.ts';
import { seekersOf } from '#shared/decide/queues/seekers.ts';
import { evictionFaults, takerFaults } from './eviction-laws.ts';
import { shuffledCluster, type WildCluster } from './wild-cluster.ts';
import { WildView } from './wild-view.ts';

/** What a decision about a wild cluster does that it never may; empty if it keeps all laws. */
export function queueFaults(cluster: WildCluster, seed: number): readonly string[] {
  const view = new WildView(cluster);
  const plan = view.plan(settingsOf(seed));
  const steps = roomSteps(view, plan);
  return [
    ...view.problems.map((problem) => `unread: ${problem}`),
    ...negatives(plan),
    ...unaccounted(view, plan),
    ...aboveMaximums(plan),
    ...idleRoom(plan),
    ...roomFaults(view, steps, cluster),
    ...orderFaults(cluster, seed, planText(plan, steps)),
  ];
}

function settingsOf(seed: number) {
  return { reclaimBy: seed % 2 === 0 ? 'Guarantees' : 'Shares', isReclaiming: seed % 7 !== 0 } as const;
}

/** The decisions of a leader that reclaims, for the pods for which room is sought. */
export function roomSteps(view: WildView, plan: QueuePlan) {
  const { pods, snapshot, now } = view;
  const input: RoomInput = { plan, pods, snapshot, now, isLeaving: () => false, isRefused: () => false, promises: [] };
  const seekers = finish(seekersOf(input));
  return finish(makeRoomInSteps(finish(readRoomState(input)), seekers.slice(0, 20), now));
}

type RoomSteps = ReturnType<typeof roomSteps>;

/** No amount of a status is below nothing. */
function negatives({ directory: { tree }, shares, used, total, available, allocation }: QueuePlan): readonly string[] {
  const negative = (what: string, amounts: QueueAmounts): readonly string[] =>
    Array.from(amounts).flatMap(([type, amount]) => (amount < 0 ? [`negative ${what} ${type}: ${amount}`] : []));
  const ofQueues = tree.queues.flatMap(({ name }, index) => [
    ...negative(`deserved of ${name}`, deservedOf(shares, index)),
    ...[used, allocation.allocated, allocation.preempting].flatMap((sums, which) =>
      Array.from(sums).flatMap(([type, of]) =>
        (of[index] ?? 0) < 0 ? [`negative ${['used', 'allocated', 'preempting'][which]} of ${name} ${type}`] : [],
      ),
    ),
  ]);
  return [...negative('total', total), ...negative('available', available), ...ofQueues];
}

/** Each pod that waits is in one list, with a reason that names what is there. */
function unaccounted(view: WildView, plan: QueuePlan): readonly string[] {
  const lists = {
    letIn: plan.letIn,
    held: plan.held,
    seeking: plan.seeking,
    homeless: plan.homeless.map(({ pod }) => pod),
    released: plan.released,
    returned: plan.returned.map(({ pod }) => pod),
  };
  const places = new Map<string, string[]>();
  for (const [name, pods] of Object.entries(lists))
    for (const { uid } of pods) places.set(uid, [...(places.get(uid) ?? []), name]);
  const gated = [...view.pods.values()].filter(isWaiting);
  const faults = gated.flatMap((pod) => {
    const found = places.get(pod.uid) ?? [];
    const isGoing = pod.unplaced?.deletion !== undefined;
    return found.length === 1 || (isGoing && found.length === 0) ? [] : [`${pod.uid} waits in [${found.join()}]`];
  });
  const reasons = plan.held.flatMap((pod) => {
    const { text } = whyWaiting(plan.question, plan.decision, pod);
    const isKnown = plan.directory.tree.indexes.has(pod.queue) || text.includes('does not exist');
    return text.length > 0 && isKnown && !/undefined|NaN|Infinity/.test(text) ? [] : [`${pod.uid} waits for: ${text}`];
  });
  return [...faults, ...reasons, ...twice(places)];
}

function twice(places: ReadonlyMap<string, readonly string[]>): readonly string[] {
  return [...places].flatMap(([uid, found]) => (found.length > 1 ? [`${uid} is in ${found.join(' and ')}`] : []));
}

/** No queue above a pod that goes in has more than its maximum, unless the pod goes in against another. */
function aboveMaximums({ letIn, decision, directory: { tree } }: QueuePlan): readonly string[] {
  return letIn
    .filter(({ against }) => against === undefined)
    .flatMap((pod) =>
      pathOf(tree, tree.indexes.get(pod.queue) ?? 0).flatMap((index) => {
        const { name = '', max = new Map<string, Whole>() } = tree.queues[index] ?? {};
        return Array.from(pod.requests).flatMap(([type, amount]) => {
          const isAbove = amount > 0 && usedBy(decision.usage, index, type) > (max.get(type) ?? Infinity);
          return isAbove ? [`${pod.uid} takes ${type} of ${name} above its maximum`] : [];
        });
      }),
    );
}

/**
 * No pod waits for which there is room by all sums: without queues it would run. What was let in earlier and its tenant
 * may start at any time takes room, too, up to the maximum of the queue once more.
 */
function idleRoom({ held, decision, directory: { tree }, question }: QueuePlan): readonly string[] {
  const limits = question.allowed.get('root') ?? new Map<string, Whole>();
  return held.flatMap((pod) => {
    const own = tree.indexes.get(pod.queue);
    const queue = own === undefined ? undefined : tree.queues[own];
    if (
      own === undefined ||
      queue?.ordering === 'Strict' ||
      queue?.weight === 0 ||
      tree.detached.has(pod.queue) ||
      !isLeaf(tree, own)
    )
      return [];
    const isFree = Array.from(pod.requests).every(
      ([type, amount]) =>
        amount === 0 ||
        pathOf(tree, own).every((index) => {
          const after = plus(usedBy(decision.usage, index, type), amount);
          const max = tree.queues[index]?.max.get(type);
          const latent = usedBy(question.latent ?? new Map(), index, type);
          const isWithinMax =
            max === undefined || (after <= max && (latent === 0 || plus(after, latent) <= times(max, 2)));
          return isWithinMax && (index !== 0 || after <= (limits.get(type) ?? Infinity));
        }),
    );
    return isFree ? [`${pod.uid} waits although there is room: ${whyWaiting(question, decision, pod).text}`] : [];
  });
}

/** Every victim may be evicted, in that number, and the taker could run on the node without them. */
function roomFaults({ pods }: WildView, steps: RoomSteps, cluster: WildCluster): readonly string[] {
  const evictions = steps.flatMap(({ step }) => (step.kind === 'Evict' ? [{ ...step }] : []));
  const takers = steps.flatMap(({ seeker, step }) => {
    if (step.kind !== 'Evict') return [];
    const taker = pods.get(seeker.pod.uid);
    const gone = step.victims.map(({ uid }) => uid);
    return taker === undefined
      ? [`room for ${seeker.pod.uid}`]
      : takerFaults(cluster, { uid: taker.uid, node: step.node, gone });
  });
  const victims = evictions.flatMap((step) => step.victims.map(({ uid }) => uid));
  return [...evictionFaults(cluster, victims), ...takers];
}

/** The same objects in another order lead to the same decision. */
function orderFaults(cluster: WildCluster, seed: number, expected: string): readonly string[] {
  const view = new WildView(shuffledCluster(cluster, seed));
  const plan = view.plan(settingsOf(seed));
  const got = planText(plan, roomSteps(view, plan));
  return got === expected ? [] : [`another order: ${firstDifference(expected, got)}`];
}

export function firstDifference(before: string, after: string): string {
  const [left, right] = [before.split('\n'), after.split('\n')];
  const at = left.findIndex((line, index) => line !== right[index]);
  return `${left[at] ?? ''} became ${right[at] ?? ''}`;
}

/** All that a pass decides, one fact a line. */
export function planText(plan: QueuePlan, steps: RoomSteps): string {
  const { directory, shares, used, letIn, held, returned, homeless, total } = plan;
  return [
    ...directory.tree.queues.map(({ name }) => `${name} ${amountsText(plan, name)}`).sort(),
    `total ${textOf(total)}`,
    `in ${letIn.map(({ uid }) => uid).join()}`,
    `held ${held.map((pod) => `${pod.uid}: ${whyWaiting(plan.question, plan.decision, pod).text}`).join()}`,
    // What a claim is told changes nothing for others.
    `returned ${returned
      .filter(({ pod }) => pod.uid !== 'uid-claim')
      .map(({ pod, because }) => `${pod.uid}: ${because.text}`)
      .sort()
      .join()}`,
    `homeless ${homeless
      .map(({ pod, because }) => `${pod.uid}: ${because.text}`)
      .sort()
      .join()}`,
    `shares ${shares.columns.size} ${used.size}`,
    ...steps.map(({ seeker, step }) => `${seeker.pod.uid} ${stepText(step)}`),
  ].join('\n');
}

function stepText(step: RoomSteps[number]['step']): string {
  const victims = step.kind === 'Evict' ? step.victims.map(({ uid }) => uid).join() : '';
  return `${step.kind} ${step.kind === 'None' ? '' : step.node} ${victims} ${step.because.text}`;
}

function amountsText({ directory: { tree }, shares, used, allocation }: QueuePlan, name: string): string {
  const index = tree.indexes.get(name) ?? 0;
  const sums = [used, allocation.allocated].map((of) =>
    textOf(new Map(Array.from(of, ([type]) => [type, usedBy(of, index, type)]))),
  );
  return [textOf(deservedOf(shares, index)), ...sums].join(' | ');
}

function textOf(amounts: QueueAmounts): string {
  return Array.from(amounts, ([type, amount]) => `${type}=${amount}`)
    .sort()
    .join();
}
