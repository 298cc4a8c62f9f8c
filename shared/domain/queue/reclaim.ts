import { type Because, reason } from '#shared/domain/base/because.ts';
import { finish, type Steps } from '#shared/domain/base/steps.ts';
import type { RunningGang } from '#shared/domain/gang/gang-cost.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import { candidatesAmong, createGivers, type Givers, type GivingNode, goingOrder, leastOn, needsOn } from './givers.ts';
import { gangBudget, gangSets } from './reclaim-gangs.ts';
import { findObjection, floorOf, TAKER_RULES } from './reclaim-rules.ts';
import type { RunningPod, WaitingPod } from './queue-pod.ts';
import type { QueueTree } from './queue-tree.ts';
import { createTaker, isEntitled, type Taker } from './taker.ts';
import type { QueueUsage } from './usage.ts';
import { type VictimCandidate, leastSize, type SearchWork, smallestSet } from './victim-set.ts';
import { whyNoRoom } from './why-no-room.ts';

export interface ReclaimQuestion {
  readonly tree: QueueTree;
  /** Usage of all pods that were let in and are not terminating. */
  readonly usage: QueueUsage;
  /** The part of it that is on a node; all of it by default. */
  readonly bound?: QueueUsage;
  readonly pod: WaitingPod;
  readonly now: Instant;
  readonly nodes: readonly GivingNode[];
  /** How many more pods each disruption budget or limit allows to evict now; no entry means any number. */
  readonly budgets: ReadonlyMap<string, number>;
  /** The gangs that run: their pods name them, and a budget of each says how many it can spare. */
  readonly gangs?: readonly RunningGang<RunningPod>[];
  /** Whether the pod fits on the node without the victims, apart from amounts. If that is unknown, it does not fit. */
  readonly fits?: (node: string, victims: readonly Pick<RunningPod, 'uid'>[]) => boolean;
}

export type ReclaimDecision =
  /** No eviction is needed: the pod fits on the node as it is. */
  | { readonly kind: 'fits'; readonly node: string; readonly because: Because }
  | {
      readonly kind: 'reclaim';
      readonly node: string;
      /** In the order of eviction. */
      readonly victims: readonly RunningPod[];
      /** A victim asked to be spared, but no other set is enough (S2-9). */
      readonly isLastResort: boolean;
      readonly because: Because;
    }
  | { readonly kind: 'none'; readonly because: Because };

const NODES_PER_STEP = 50;
/**
 * Work of searches between two steps, and of a decision: some tenths of a second, even if a smallest set is hard to
 * find.
 */
const WORK_PER_STEP = 5_000;
const WORK_OF_DECISION = 500_000;

/** `decideReclaimInSteps`, run to the end. */
export function decideReclaim(question: ReclaimQuestion): ReclaimDecision {
  return finish(decideReclaimInSteps(question));
}

/**
 * Which pods make room for a pod whose queue is under its guarantee: a smallest set of pods on one node that breaks no
 * rule of `reclaim-rules.ts`; none if the pod already fits. Pods that asked to be spared are considered only if no node has
 * another set.
 */
export function* decideReclaimInSteps(question: ReclaimQuestion): Steps<ReclaimDecision> {
  const decision = yield* decideByFloors(question);
  const { promised } = question.tree;
  if (decision.kind !== 'none' || promised === undefined) return decision;
  const entitled = { ...question, tree: promised };
  // Guarantees come first: a queue under its own may bring others below their shares.
  return isEntitled(takerOf(entitled)) ? yield* decideByFloors(entitled) : decision;
}

function* decideByFloors(question: ReclaimQuestion): Steps<ReclaimDecision> {
  const taker = takerOf(question);
  const givers = createGivers(taker);
  const untouched = yield* findRoom(question, givers);
  if (untouched !== undefined) return { kind: 'fits', node: untouched, because: FITS({ node: untouched }) };
  const { queue } = question.pod;
  if (!question.tree.indexes.has(queue)) return { kind: 'none', because: NO_QUEUE({ queue }, { queue }) };
  const objection = findObjection(TAKER_RULES, taker, taker);
  if (objection !== undefined) {
    const because = { code: objection.code, text: objection.text(taker, taker), facts: { row: objection.row } };
    return { kind: 'none', because };
  }
  const found =
    (yield* searchNodes(question, givers, false)) ??
    (yield* searchLastResort(question, givers)) ??
    (yield* searchGangs(question, givers));
  return found === undefined
    ? { kind: 'none', because: whyNoRoom(question, givers, yield* blockingBudget(question, givers)) }
    : reclaim(question, found);
}

/** Whether a queue above that of the pod would exceed its maximum with it. */
export function isCrowded(question: ReclaimQuestion): boolean {
  return createGivers(takerOf(question)).crowded.length > 0;
}

function takerOf({ tree, usage, pod, now, bound = usage }: ReclaimQuestion): Taker {
  return { ...createTaker(tree, usage, pod, now), bound };
}

interface FoundSet {
  readonly node: string;
  readonly victims: readonly RunningPod[];
}

function nodesFor({ nodes, pod }: ReclaimQuestion): readonly GivingNode[] {
  return pod.isDaemonSet ? nodes.filter(({ name }) => name === pod.node) : nodes;
}

function* findRoom(question: ReclaimQuestion, givers: Givers): Steps<string | undefined> {
  if (givers.crowded.length > 0) return undefined;
  for (const [index, { name, free }] of nodesFor(question).entries()) {
    if (index % NODES_PER_STEP === NODES_PER_STEP - 1) yield;
    const hasRoom = needsOn(givers, free).every((need) => need <= 0);
    if (hasRoom && question.fits?.(name, []) !== false) return name;
  }
  return undefined;
}

function* searchNodes(question: ReclaimQuestion, givers: Givers, withLastResort: boolean): Steps<FoundSet | undefined> {
  const order = goingOrder(givers);
  const work = { stepsLeft: WORK_OF_DECISION };
  let atLastStep = work.stepsLeft;
  let best: FoundSet | undefined;
  for (const [index, node] of nodesFor(question).entries()) {
    if (index % NODES_PER_STEP === NODES_PER_STEP - 1 || atLastStep - work.stepsLeft > WORK_PER_STEP) {
      atLastStep = work.stepsLeft;
      yield;
    }
    const victims = searchNode(question, givers, { node, withLastResort, best, order, work });
    if (victims === undefined) continue;
    const found = { node: node.name, victims: victims.toSorted(order) };
    if (best === undefined || compareSets(found, best, order) < 0) best = found;
  }
  return best;
}

function* searchLastResort(question: ReclaimQuestion, givers: Givers): Steps<FoundSet | undefined> {
  return givers.hasSpared ? yield* searchNodes(question, givers, true) : undefined;
}

/**
 * A whole gang, else pods of gangs one by one as if they were of none: what a tenant says of its pods must not hold what
 * was promised to another queue, and a gang of more than its queue may lose would hold all of it.
 */
function* searchGangs(question: ReclaimQuestion, givers: Givers): Steps<FoundSet | undefined> {
  const { gangs = [] } = question;
  if (gangs.length === 0) return undefined;
  const nodes = nodesFor(question);
  const whole = yield* gangSets({ ...question, nodes }, givers, { stepsLeft: WORK_OF_DECISION });
  const budgets = new Map(question.budgets);
  for (const { key } of gangs) budgets.delete(gangBudget(key));
  return whole ?? (yield* searchNodes({ ...question, budgets }, givers, true));
}

type GoingOrder = ReturnType<typeof goingOrder>;

interface NodeSearch {
  readonly node: GivingNode;
  readonly withLastResort: boolean;
  /** The best result of other nodes; anything worse is ignored. */
  readonly best: FoundSet | undefined;
  readonly order: GoingOrder;
  readonly work: SearchWork;
}

function searchNode(
  { budgets, fits }: ReclaimQuestion,
  givers: Givers,
  search: NodeSearch,
): readonly RunningPod[] | undefined {
  const { node, best, order, work } = search;
  const needs = needsOn(givers, node.free);
  const candidates = candidatesOn(givers, search, needs);
  if (candidates === undefined || !mayFit(fits, node, candidates)) return undefined;
  return smallestSet({
    candidates: candidates.toSorted((a, b) => order(a.pod, b.pod)),
    needs,
    reserves: givers.reserves,
    budgets,
    maxSize: sizeOf(best),
    accepts: (victims) => fits?.(node.name, victims) !== false,
    areProfilesEqual: fits === undefined,
    work,
  });
}

function sizeOf(best: FoundSet | undefined): number {
  return best?.victims.length ?? Infinity;
}

/** The pods from which a better set could be formed; nothing if too few are left. */
function candidatesOn(
  givers: Givers,
  { node, withLastResort, best, order }: NodeSearch,
  needs: readonly Whole[],
): readonly VictimCandidate[] | undefined {
  // The numbers alone rule out most pods, before the rules are checked.
  const bound = leastOn(givers, node.pods, needs);
  if (bound > sizeOf(best)) return undefined;
  const pods = bound === best?.victims.length ? node.pods.filter(notWorse(best, order)) : node.pods;
  if (pods.length < bound) return undefined;
  const all = candidatesAmong(givers, pods, withLastResort);
  const least = leastSize(all, needs);
  if (least === Infinity || least > sizeOf(best)) return undefined;
  const isBetter = notWorse(best, order);
  const candidates = least === best?.victims.length ? all.filter(({ pod }) => isBetter(pod)) : all;
  return candidates.length < least ? undefined : candidates;
}

/** If the pod does not fit even without all of them, no set is tried: taints and node affinity end here. */
function mayFit(fits: ReclaimQuestion['fits'], { name }: GivingNode, candidates: readonly VictimCandidate[]): boolean {
  const all = candidates.map(({ pod }) => pod);
  return fits?.(name, all) !== false;
}

/** Among sets of the same size, one whose last victim comes later than that of the best is worse. */
function notWorse(best: FoundSet | undefined, order: GoingOrder): (pod: RunningPod) => boolean {
  if (best === undefined) return () => true;
  const last = lastOf(best);
  return (pod) => order(pod, last) <= 0;
}

/** Fewer victims first, then the earlier last victim: two pods are never equal, and nodes share no pod. */
function compareSets(a: FoundSet, b: FoundSet, order: GoingOrder): number {
  return a.victims.length - b.victims.length || order(lastOf(a), lastOf(b));
}

function lastOf({ victims }: FoundSet): RunningPod {
  return victims.at(-1) as RunningPod;
}

const FITS = reason<{ readonly node: string }>('Fits', ({ node }) => `the pod fits on node ${node} as it is`);

interface Reclaimed {
  readonly pod: WaitingPod;
  readonly found: FoundSet;
  readonly isLastResort: boolean;
  readonly floor: string;
}

const RECLAIM = reason<Reclaimed>(
  ({ isLastResort }) => (isLastResort ? 'LastResort' : 'Reclaim'),
  ({ pod, found, isLastResort, floor }) => {
    const queues = [...new Set(found.victims.map(({ queue }) => queue))].sort();
    const names = found.victims.map(({ name }) => name).join(', ');
    const last = isLastResort ? ', although a pod asked to be spared: no other set of pods makes room' : '';
    const make = found.victims.length === 1 ? 'makes' : 'make';
    return `${names} of queue ${queues.join(', ')} ${make} room on node ${found.node} for ${pod.name}: queue ${pod.queue} is under its ${floor}${last}`;
  },
);

function reclaim({ pod, tree }: ReclaimQuestion, found: FoundSet): ReclaimDecision {
  const isLastResort = found.victims.some(({ mayBePreempted }) => !mayBePreempted);
  const facts = { node: found.node, victims: found.victims.length, queue: pod.queue, lastResort: isLastResort };
  return {
    kind: 'reclaim',
    ...found,
    isLastResort,
    because: RECLAIM({ pod, found, isLastResort, floor: floorOf({ tree }) }, facts),
  };
}

const NO_QUEUE = reason<{ readonly queue: string }>(
  'QueueNotFound',
  ({ queue }) => `queue ${queue} does not exist: nothing says what it was promised`,
);
/** A budget without which some node would have a set. */
function* blockingBudget(question: ReclaimQuestion, givers: Givers): Steps<string | undefined> {
  if (question.budgets.size === 0) return undefined;
  const free = { ...question, budgets: new Map<string, number>() };
  const order = goingOrder(givers);
  const work = { stepsLeft: WORK_OF_DECISION };
  for (const [index, node] of nodesFor(question).entries()) {
    if (index % NODES_PER_STEP === NODES_PER_STEP - 1) yield;
    const victims = searchNode(free, givers, { node, withLastResort: true, best: undefined, order, work });
    const budget = victims?.flatMap(({ budgets }) => budgets).find((name) => question.budgets.has(name));
    if (budget !== undefined) return budget;
  }
  return undefined;
}
