import { askSnapshot } from '#shared/domain/eviction/ask-budgets.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { HALF, KEPT } from '#shared/domain/gang/messages.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { type GangTime, type GangTimes, letInAs, limitOf, partsOf } from './gang-times.ts';
import type { QueueGang, QueueMember } from './gangs.ts';
import type { QueuedPod } from './queued-pod.ts';
import { protectionOf } from './standing.ts';

/** A gang that holds room with fewer pods than it needs, for longer than it may. */
export interface HalfGang {
  readonly gang: string;
  readonly queue: string;
  /** Its pods that go back, those with a node first. */
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
  readonly times: GangTimes;
  /** How long a pod may take to end. */
  readonly graceSecondsOf: (uid: string) => number;
  /** The node that was set aside for a pod, if this process did it. */
  readonly plannedFor: (uid: string) => string | undefined;
}

type TimeInput = Pick<HalfGangsInput, 'timeoutMs' | 'graceSecondsOf'> & { readonly time: GangTime };

/** kube-scheduler gives a planned pod its node sooner. */
const PLACED_WITHIN_MS = 5_000;
/** Until a round sees that it is time, and until its pods are evicted one after the other. */
const RETURN_MS = 2_000;
const RETURN_MS_PER_POD = 20;

/**
 * The gangs that go back whole: fewer of their pods have a node than run together, and others of them wait or are lost. A
 * gang none of whose other pods waits or ends is left alone, because nothing tells pods that are gone from pods that have
 * done their work.
 */
export function halfGangs(gangs: readonly QueueGang[], input: HalfGangsInput): readonly HalfGang[] {
  return gangs.flatMap((gang) => halfOf(gang, input) ?? []);
}

function halfOf(gang: QueueGang, input: HalfGangsInput): HalfGang | undefined {
  const { now, times, snapshot } = input;
  const { key, queue, deletions } = gang;
  const time = times.get(key);
  if (time?.isHalf !== true) return undefined;
  const { inside, running, lacking, missing } = partsOf(gang);
  const isLeft = lacking.length === 0 && deletions.length === 0;
  if (isLeft || now < dueAt({ inside, running }, { ...input, time })) return undefined;
  const onNodes = running.map(({ pod }) => pod);
  // Those without a node say since when the gang runs in part, as long as they are there: a new leader reads it.
  const members = [...onNodes, ...inside.flatMap(({ pod }) => (pod.isBound ? [] : [pod]))];
  const [min, seconds] = [running.length + missing, Math.floor((now - time.at) / 1_000)];
  const facts = { gang: key, running: running.length, min, seconds };
  const because = HALF({ ...facts, others: whoTook(members, input) }, facts);
  const keptBy = keeperOf(key, { members: inside, running: onNodes }, snapshot);
  return { gang: key, queue, members, because, keptBy };
}

/**
 * Its pods are evicted so early that they have ended when the time is up. If that leaves too little of it, as where they
 * may take long to end, it is half of the time.
 */
function dueAt({ inside, running }: Pick<ReturnType<typeof partsOf>, 'inside' | 'running'>, input: TimeInput): Instant {
  const { time, timeoutMs, graceSecondsOf } = input;
  const graceSeconds = running.reduce((most, { uid }) => Math.max(most, graceSecondsOf(uid)), 0);
  const returnMs = RETURN_MS + RETURN_MS_PER_POD * inside.length + 1_000 * graceSeconds;
  const last = time.at + timeoutMs - Math.min(returnMs, timeoutMs / 2);
  const placingMs = Math.min(PLACED_WITHIN_MS, timeoutMs / 6);
  // Pods that have just been let in are about to get their nodes.
  const placed = Math.min(last, limitOf(inside, Math.max) + placingMs);
  // An owner that waits long before it creates a pod again has lost the gang no chance.
  // A deleted pod that uses its time to end keeps its place, and often its replacement, until then.
  const joinedAt = Math.max(time.joinedAt, Math.min(time.endedAt, time.at + timeoutMs / 2));
  return Math.max(last - placingMs, placed, joinedAt + 2 * placingMs);
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
