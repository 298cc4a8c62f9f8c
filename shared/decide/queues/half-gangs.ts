import type { AdmittedGang } from '#shared/api/admitted.ts';
import { askSnapshot } from '#shared/domain/eviction/ask-budgets.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { HALF, KEPT } from '#shared/domain/gang/messages.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { QueueGang, QueueMember } from './gangs.ts';
import type { QueuedPod } from './queued-pod.ts';
import { protectionOf } from './standing.ts';

/** A gang that holds room with fewer pods than it needs, for longer than it may. */
export interface HalfGang {
  readonly gang: string;
  readonly queue: string;
  /** Its pods that go back, those without a node first. */
  readonly members: readonly QueuedPod[];
  readonly because: Because;
  /** Why they stay nevertheless. */
  readonly keptBy: Because | undefined;
}

export interface HalfGangsInput {
  readonly snapshot: ClusterSnapshot;
  readonly now: Instant;
  /** How long a gang may be half of one. */
  readonly timeoutMs: number;
  /** Since when gangs are half of one, by key: `halvesSince`. */
  readonly since: HalvesSince;
  /** The node that was set aside for a pod, if this process did it. */
  readonly plannedFor: (uid: string) => string | undefined;
}

export type HalvesSince = ReadonlyMap<string, Instant>;

/** kube-scheduler gives a planned pod its node sooner. */
const PLACED_WITHIN_MS = 5_000;

/**
 * The gangs that go back whole: fewer of their pods have a node than run together, and others of them wait. A gang none
 * of whose other pods waits is left alone, because nothing tells pods that are gone from pods that have done their work.
 */
export function halfGangs(gangs: readonly QueueGang[], input: HalfGangsInput): readonly HalfGang[] {
  const { snapshot, now } = input;
  return gangs.flatMap((gang) => {
    const { key } = gang;
    const since = input.since.get(key);
    if (since === undefined || now < dueAt(gang, since, input)) return [];
    const [members, min] = [gang.members.filter(({ isIn }) => isIn), neededOf(gang)];
    const inside = members.map(({ pod }) => pod);
    const running = inside.filter(({ isBound }) => isBound);
    const [seconds, others] = [Math.floor((now - since) / 1_000), whoTook(inside, input)];
    const facts = { gang: key, running: running.length, min, seconds, others };
    return [
      {
        gang: key,
        queue: gang.queue,
        members: [...inside.filter(({ isBound }) => !isBound), ...running],
        because: HALF(facts, { gang: key, running: running.length, min, seconds }),
        keptBy: keeperOf(key, { members, running }, snapshot),
      },
    ];
  });
}

/**
 * Since when gangs are half of one without a break, as far as `before`, which this process found last, and the objects
 * say. A gang whose pods are removed and replaced again and again would never be late by the objects alone.
 */
export function halvesSince(gangs: readonly QueueGang[], before: HalvesSince): HalvesSince {
  return new Map(
    gangs.flatMap((gang): readonly (readonly [string, Instant])[] => {
      const since = halfSince(gang);
      return since === undefined ? [] : [[gang.key, Math.min(since, before.get(gang.key) ?? since)]];
    }),
  );
}

/** Pods that have just been let in are about to get their nodes. */
function dueAt({ members }: QueueGang, since: Instant, { timeoutMs }: HalfGangsInput): Instant {
  const inside = members.filter(({ isIn }) => isIn);
  return Math.max(since + timeoutMs, limitOf(inside, Math.max) + Math.min(PLACED_WITHIN_MS, timeoutMs));
}

/**
 * How many of its pods have to run. A minimum that rises while they run asks for more pods, and takes none from those
 * that were enough when they went in.
 */
function neededOf({ members, min }: QueueGang): number {
  return members.reduce((least, member) => Math.min(least, letInAs(member)?.min ?? least), min);
}

/** The gang with which a pod was let in, if it is the one that it names. */
function letInAs({ pod: { admitted }, gang: { name } }: QueueMember): AdmittedGang | undefined {
  return admitted?.gang?.name === name ? admitted.gang : undefined;
}

/** Since when some of its pods are in and too few have a node; the objects say it, so a new leader knows. */
function halfSince(gang: QueueGang): Instant | undefined {
  const { members } = gang;
  const inside = members.filter(({ isIn }) => isIn);
  const lacking = members.filter(({ isIn, pod }) => !isIn || !pod.isBound);
  const running = members.length - lacking.length;
  if (inside.length === 0 || lacking.length === 0 || running >= neededOf(gang)) return undefined;
  const [latest, earliest] = [limitOf(inside, Math.max), limitOf(lacking, Math.min)];
  return Math.max(latest, earliest);
}

/** More pods may name a gang than a function takes arguments. */
function limitOf([first, ...others]: readonly QueueMember[], choose: (a: number, b: number) => number): Instant {
  return others.reduce((limit, each) => choose(limit, sinceOf(each)), first === undefined ? 0 : sinceOf(first));
}

/** Since when it is in or waits. What is written on a pod behind its gate counts for nothing. */
function sinceOf({ pod, isIn }: QueueMember): Instant {
  return isIn ? (pod.admitted?.at ?? pod.createdAt) : pod.createdAt;
}

/** Who has the room that was planned for the others; pods of other namespaces are not disclosed. */
function whoTook(inside: readonly QueuedPod[], { snapshot: { nodes }, plannedFor }: HalfGangsInput): string {
  const uids = new Set(inside.map(({ uid }) => uid));
  const planned = inside.filter(({ isBound }) => !isBound).flatMap(({ uid }) => plannedFor(uid) ?? []);
  const [node] = planned;
  if (node === undefined) return '';
  const entry = nodes.get(node);
  if (entry === undefined) return `; node ${node}, which was set aside, is gone`;
  const others = entry.occupancy.pods.filter(({ pod }) => !uids.has(pod.uid));
  if (others.length === 0) return '';
  const highest = Math.max(...others.map(({ priority }) => priority));
  return `; pods of a priority up to ${highest} have the room on node ${node}`;
}

interface PodsOfHalf {
  readonly members: readonly QueueMember[];
  readonly running: readonly QueuedPod[];
}

/** What forbids that a pod of the gang is evicted: then none goes, since those that stayed would be half a gang. */
function keeperOf(gang: string, { members, running }: PodsOfHalf, snapshot: ClusterSnapshot): Because | undefined {
  const keeper = firstOf(members, whyKept) ?? exhaustedBudget(running, snapshot);
  return keeper === undefined ? undefined : KEPT({ gang, keeper }, { gang });
}

function firstOf<T, F>(all: readonly T[], find: (each: T) => F | undefined): F | undefined {
  for (const each of all) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * As in reclaim: what no queue has let in was there before queues, or is the kubelet's own. A pod that went in alone, by a
 * version that knew no gangs or before it named this one, is not sent back for being one of few.
 */
function whyKept(member: QueueMember): string | undefined {
  const { name, admitted } = member.pod;
  const protection = protectionOf(member.pod);
  if (protection !== undefined) return protection;
  if (admitted === undefined) return `no queue has let pod ${name} in`;
  return letInAs(member) === undefined ? `pod ${name} was not let in with the gang` : undefined;
}

function exhaustedBudget(running: readonly QueuedPod[], snapshot: ClusterSnapshot): string | undefined {
  const used = new Map<string, number>();
  return firstOf(running, ({ uid }) => {
    const placed = snapshot.placedPods.get(uid);
    const answer = placed === undefined ? undefined : askSnapshot(snapshot, placed);
    if (answer === undefined || answer.kind === 'Free') return undefined;
    const budgets = answer.kind === 'Counted' ? [answer.budget] : answer.budgets;
    const names = budgets.map((budget) => budget.name).join(', ');
    const count = (used.get(names) ?? 0) + 1;
    used.set(names, count);
    const isAllowed = answer.kind === 'Counted' && answer.budget.disruptionsAllowed >= count;
    return isAllowed ? undefined : `disruption budget ${names} does not allow it`;
  });
}
