import { type Because, reason } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { minus, type Whole } from '#shared/domain/quantity/whole.ts';
import { prefilter } from '#shared/domain/placement/trial/prefilter-state.ts';
import { openTrial, refusalIn, takeOff } from '#shared/domain/placement/trial/trial.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import type { QueueAmounts } from './queue.ts';
import type { QueuePod, RunningPod, WaitingPod } from './queue-pod.ts';
import type { QueueTree } from './queue-tree.ts';
import type { GivingNode } from './givers.ts';
import { decideReclaimInSteps, isCrowded, type ReclaimDecision, type ReclaimQuestion } from './reclaim.ts';
import { addAmounts, type QueueUsage, subtractAmounts, sumUsage } from './usage.ts';

/** A pod for which room is sought. */
export interface Seeker {
  readonly pod: WaitingPod;
  /** The gang that it is of: room is made for all pods of it that seek room, or for none. */
  readonly together?: string;
  /** Whether its gate still holds it back. */
  readonly isGated: boolean;
  /** Whether it is charged to its queue already; by default if it is not gated. */
  readonly isCounted?: boolean;
  /** Whether it stays behind its gate while a queue above its own is at its maximum, whatever nodes have. */
  readonly isCrowded?: boolean;
  /** The node that is set aside for it. */
  readonly nominatedTo: string | undefined;
  readonly fits?: ReclaimQuestion['fits'];
}

/** A node, the pods running on it and leaving it, and the pods that its room is promised to. */
export interface RoomNode extends GivingNode {
  /** What leaving pods hold; `free` counts it as free. */
  readonly leaving: QueueAmounts;
  readonly leavingPods: readonly Leaving[];
  /** `free` includes what is promised. */
  readonly promised: readonly Promised[];
}

type Leaving = Pick<QueuePod, 'uid'>;
export type Promised = Pick<QueuePod, 'uid' | 'priority' | 'requests'>;

/** The cluster at the start of one round of decisions. */
export interface RoomState extends Pick<ReclaimQuestion, 'gangs'> {
  readonly tree: QueueTree;
  /** What was let in and is not leaving, by queue name, for its own pods. */
  readonly own: ReadonlyMap<string, QueueAmounts>;
  /** The part of it that is not on a node yet. No pod of the queue goes for that part, as if the queue had it. */
  readonly unplaced?: ReadonlyMap<string, QueueAmounts>;
  /**
   * What is promised to pods that still have their gate, by queue name. It counts as usage of takers, but cannot be
   * taken from them.
   */
  readonly sought: ReadonlyMap<string, QueueAmounts>;
  readonly nodes: readonly RoomNode[];
  /** How many more pods each disruption budget allows to evict now. */
  readonly budgets: ReadonlyMap<string, number>;
}

export type RoomStep =
  /** There is already room. */
  | { readonly kind: 'Room'; readonly node: string; readonly because: Because }
  /** There is room once the leaving pods are gone. */
  | { readonly kind: 'Await'; readonly node: string; readonly because: Because }
  | ({ readonly kind: 'Evict' } & Omit<Extract<ReclaimDecision, { readonly kind: 'reclaim' }>, 'kind'>)
  | { readonly kind: 'None'; readonly because: Because };

export interface SeekerStep {
  readonly seeker: Seeker;
  readonly step: RoomStep;
}

const ROOM = reason<{ readonly node: string }>('Room', ({ node }) => `there is room on node ${node}`);
const AWAIT = reason<{ readonly node: string }>(
  'RoomIsMade',
  ({ node }) => `node ${node} is set aside until the pods are gone that make room there`,
);

/**
 * Which pods make room for each pod, from the first to the last: what is promised to one pod is not given to a later
 * one of equal or lower priority, and a victim makes room for one pod only (S0-23, S2-24).
 */
export function* makeRoomInSteps(
  state: RoomState,
  seekers: readonly Seeker[],
  now: Instant,
): Steps<readonly SeekerStep[]> {
  const steps: SeekerStep[] = [];
  let left = state;
  for (const group of groupsOf(seekers)) {
    const found = yield* stepsFor(left, group, now);
    steps.push(...found.steps);
    left = found.left;
  }
  return steps;
}

interface GroupSteps {
  readonly steps: readonly SeekerStep[];
  readonly left: RoomState;
}

/** One after the other; if there is no room for one of them, none gets any. */
function* stepsFor(state: RoomState, group: readonly Seeker[], now: Instant): Steps<GroupSteps> {
  const steps: SeekerStep[] = [];
  let left = state;
  for (const seeker of group) {
    const step = yield* stepFor(left, seeker, now);
    yield;
    if (step.kind === 'None') return { steps: wholeGroups(group.map((each) => ({ seeker: each, step }))), left: state };
    steps.push({ seeker, step });
    left = after(left, seeker, step);
  }
  return { steps, left };
}

const NO_ROOM_FOR_GANG = 'NoRoomForGang';
/** Said of the whole gang already. */
const TOLD_AS_IS: ReadonlySet<string> = new Set([NO_ROOM_FOR_GANG, 'NotAboveDelay']);
const NOT_FOR_ALL = reason<{ readonly gang: string; readonly why: string }>(
  NO_ROOM_FOR_GANG,
  ({ gang, why }) => `no room for all pods of gang ${gang}: ${why}`,
);

/** The steps without those of gangs of which one pod gets no room. */
export function wholeGroups(steps: readonly SeekerStep[]): readonly SeekerStep[] {
  const lacking = new Map<string, Because>();
  for (const { seeker, step } of steps) {
    const { together } = seeker;
    if (together === undefined || step.kind !== 'None' || lacking.has(together)) continue;
    const isTold = TOLD_AS_IS.has(step.because.code);
    lacking.set(together, isTold ? step.because : NOT_FOR_ALL({ gang: together, why: step.because.text }));
  }
  if (lacking.size === 0) return steps;
  return steps.map(({ seeker, step }) => {
    const because = lacking.get(seeker.together ?? '');
    return { seeker, step: because === undefined ? step : { kind: 'None', because } };
  });
}

/** The pods of each gang where its first one stands; every other pod alone. */
export function groupsOf(seekers: readonly Seeker[]): readonly (readonly Seeker[])[] {
  return [...Map.groupBy(seekers, ({ together, pod }) => together ?? pod.uid).values()];
}

function* stepFor(state: RoomState, seeker: Seeker, now: Instant): Steps<RoomStep> {
  const nodes = nodesFor(state, seeker);
  const question = questionOf(state, nodes, seeker, now);
  if (seeker.isCrowded === true && isCrowded(question)) return stepOf(yield* decideReclaimInSteps(question));
  const present = nodes.find((node) => hasRoom(seeker, node, node.leaving, []));
  if (present !== undefined) return { kind: 'Room', node: present.name, because: ROOM({ node: present.name }) };
  const setAside = nodes.find(({ name }) => name === seeker.nominatedTo);
  if (setAside !== undefined && hasRoom(seeker, setAside, NOTHING, setAside.leavingPods)) return awaited(setAside.name);
  return stepOf(yield* decideReclaimInSteps(question));
}

function stepOf(decision: ReclaimDecision): RoomStep {
  if (decision.kind === 'fits') return awaited(decision.node);
  return decision.kind === 'none' ? { ...decision, kind: 'None' } : { ...decision, kind: 'Evict' };
}

const NOTHING: QueueAmounts = new Map();

function awaited(node: string): RoomStep {
  return { kind: 'Await', node, because: AWAIT({ node }) };
}

/** Each node without what is promised to other pods that need not yield. The node that is set aside comes first. */
function nodesFor({ nodes }: RoomState, { pod, nominatedTo }: Seeker): readonly RoomNode[] {
  const own = nodes.map((node) => {
    const before = node.promised.filter(({ uid, priority }) => uid !== pod.uid && priority >= pod.priority);
    if (before.length === 0) return node;
    const free = new Map(node.free);
    for (const { requests } of before) subtractAmounts(free, requests);
    return { ...node, free };
  });
  const index = own.findIndex(({ name }) => name === nominatedTo);
  return index <= 0 ? own : [own[index] as RoomNode, ...own.slice(0, index), ...own.slice(index + 1)];
}

function hasRoom({ pod, fits }: Seeker, node: RoomNode, held: QueueAmounts, gone: readonly Leaving[]): boolean {
  for (const [type, amount] of pod.requests) {
    if (amount > 0 && minus(node.free.get(type) ?? 0, held.get(type) ?? 0) < amount) return false;
  }
  return fits?.(node.name, gone) !== false;
}

function questionOf(state: RoomState, nodes: readonly RoomNode[], seeker: Seeker, now: Instant): ReclaimQuestion {
  const { tree, budgets, own, sought, gangs = [] } = state;
  const { pod, fits } = seeker;
  const before = isCounted(seeker) ? charged(own, [pod], -1) : own;
  const leaving = new Map(nodes.map(({ name, leavingPods }) => [name, leavingPods]));
  const usage = sumUsage(tree, charged(before, [{ queue: pod.queue, requests: sought.get(pod.queue) ?? NOTHING }], 1));
  const question = { tree, budgets, gangs, usage, bound: boundOf(state, own), pod, now, nodes };
  if (fits === undefined) return question;
  return { ...question, fits: (name, victims) => fits(name, [...(leaving.get(name) ?? []), ...victims]) };
}

function isCounted({ isGated, isCounted: counted = !isGated }: Seeker): boolean {
  return counted;
}

/** What is on nodes. */
function boundOf({ tree, unplaced = NOTHING_UNPLACED }: RoomState, own: RoomState['own']): QueueUsage {
  const charges = Array.from(unplaced, ([queue, requests]) => ({ queue, requests }));
  return sumUsage(tree, charged(own, charges, -1));
}

const NOTHING_UNPLACED: NonNullable<RoomState['unplaced']> = new Map();

type QueueCharge = Pick<QueuePod, 'queue' | 'requests'>;

function charged(own: RoomState['own'], charges: readonly QueueCharge[], times: 1 | -1): RoomState['own'] {
  if (charges.length === 0) return own;
  const changed = new Map(own);
  for (const { queue, requests } of charges) {
    const sum = new Map<string, Whole>(changed.get(queue));
    (times === 1 ? addAmounts : subtractAmounts)(sum, requests);
    changed.set(queue, sum);
  }
  return changed;
}

/** The cluster as seen by the next pod. */
function after(state: RoomState, seeker: Seeker, step: RoomStep): RoomState {
  const { pod } = seeker;
  if (step.kind === 'None') return state;
  const victims = step.kind === 'Evict' ? step.victims : [];
  const sought = isCounted(seeker) ? state.sought : charged(state.sought, [pod], 1);
  const own = charged(state.own, victims, -1);
  const nodes = state.nodes.map((node) => {
    const own = victims.filter((each) => node.pods.includes(each));
    if (node.name === step.node) return withPromise(node, pod, own);
    return own.length === 0 ? node : withoutPods(node, own);
  });
  return { ...state, own, sought, nodes, budgets: spent(state.budgets, victims) };
}

function withPromise(node: RoomNode, pod: WaitingPod, victims: readonly RunningPod[]): RoomNode {
  return {
    ...withoutPods(node, victims),
    promised: [...node.promised.filter(({ uid }) => uid !== pod.uid), pod],
  };
}

function withoutPods(node: RoomNode, victims: readonly RunningPod[]): RoomNode {
  const free = new Map<string, Whole>(node.free);
  const leaving = new Map<string, Whole>(node.leaving);
  for (const { requests } of victims) for (const sum of [free, leaving]) addAmounts(sum, requests);
  return {
    ...node,
    free,
    leaving,
    pods: node.pods.filter((each) => !victims.includes(each)),
    leavingPods: [...node.leavingPods, ...victims],
  };
}

function spent(budgets: RoomState['budgets'], victims: readonly RunningPod[]): RoomState['budgets'] {
  const left = new Map(budgets);
  for (const name of victims.flatMap((victim) => victim.budgets)) left.set(name, (left.get(name) ?? Infinity) - 1);
  return left;
}

/**
 * Whether a pod fits on a node without the victims, by all filters of kube-scheduler that the extender models: taints,
 * affinity, ports, spread and amounts (S2-24). Stale as soon as the snapshot changes. The answer is no if a victim is
 * not on that node in the snapshot.
 */
export function fitCheck(snapshot: ClusterSnapshot, pod: Pod): NonNullable<ReclaimQuestion['fits']> {
  const state = prefilter(snapshot, pod);
  return (name, victims) => {
    const entry = snapshot.nodes.get(name);
    // The taint of a node that is not ready may still be missing.
    if (entry === undefined || entry.node.isUnready === true) return false;
    if (state.nodeFilters.some((filter) => filter(entry) !== undefined)) return false;
    const { uids } = sheetOf(entry);
    const indexes = victims.map(({ uid }) => uids.indexOf(uid));
    if (indexes.includes(-1)) return false;
    const trial = openTrial(state, entry);
    takeOff(trial, indexes);
    return refusalIn(trial) === undefined;
  };
}
