import { minus, type Whole } from '#shared/domain/quantity/whole.ts';
import { excessWith, findObjection, GIVER_RULES, type ReclaimRule, LOSS_RULES, VICTIM_RULES } from './reclaim-rules.ts';
import type { QueueAmounts } from './queue.ts';
import { compareGoingFirst, type RunningPod, sparedRank } from './queue-pod.ts';
import { numberOf, pathOf } from './queue-tree.ts';
import { heldBy, keptOf, type Taker } from './taker.ts';
import type { VictimCandidate, Profile } from './victim-set.ts';

/** A node and what runs there. */
export interface GivingNode {
  readonly name: string;
  /** What is left, including the room of terminating pods and without that of nominated pods. */
  readonly free: QueueAmounts;
  /** Without protected and terminating pods. */
  readonly pods: readonly RunningPod[];
}

/** Who may give room to one taker, computed once per queue and once per amount that pods of a queue request. */
export interface Givers {
  readonly taker: Taker;
  /** By queue name; absent until it is needed, `undefined` if the queue may give. */
  readonly objections: Map<string, ReclaimRule<number> | undefined>;
  /** `undefined` if none of these pods may be evicted. */
  readonly profiles: Map<string, Map<QueueAmounts, Profile | undefined>>;
  /** What queues use above their guarantees, and the index of each queue. */
  readonly reserves: Whole[];
  readonly reserveNumbers: Map<string, number>;
  /**
   * Queues above the taker's that would exceed their maximum with it, and by how much: that amount must be freed below
   * them.
   */
  readonly crowded: readonly Crowded[];
  /** Whether a pod was left out only because it asked to be spared. */
  hasSpared: boolean;
}

interface Crowded {
  readonly queue: number;
  readonly type: string;
  readonly above: Whole;
}

/** More than the rounding errors of a division. */
const PRECISION = 1e-9;

export function createGivers(taker: Taker): Givers {
  const crowded = [...taker.above].flatMap((queue) =>
    excessWith(taker, queue).map(([type, above]) => ({ queue, type, above })),
  );
  const found = { objections: new Map(), profiles: new Map(), reserves: [], reserveNumbers: new Map() };
  return { taker, ...found, crowded, hasSpared: false };
}

/** What must be freed on a node with this much free room, then below each crowded queue. */
export function needsOn({ crowded, taker }: Givers, free: QueueAmounts): readonly Whole[] {
  const { pod, types } = taker;
  return [
    ...types.map((type) => minus(pod.requests.get(type) as Whole, free.get(type) ?? 0)),
    ...crowded.map(({ above }) => above),
  ];
}

const requestsOn = new WeakMap<readonly RunningPod[], readonly QueueAmounts[]>();

/** The different requests of the pods of a node. */
function differentRequests(pods: readonly RunningPod[]): readonly QueueAmounts[] {
  const known = requestsOn.get(pods) ?? [...new Set(pods.map(({ requests }) => requests))];
  requestsOn.set(pods, known);
  return known;
}

/** Fewer pods than this are not enough, even if all may be evicted. */
export function leastOn({ taker }: Givers, pods: readonly RunningPod[], needs: readonly Whole[]): number {
  const gives = differentRequests(pods);
  let least = 1;
  for (const [index, type] of taker.types.entries()) {
    const need = Number(needs[index]);
    if (need <= 0) continue;
    let most = 0;
    for (const amounts of gives) most = Math.max(most, Number(amounts.get(type) ?? 0));
    least = Math.max(least, Math.ceil((need / most) * (1 - PRECISION)));
  }
  return least;
}

/** The pods that may be evicted, in that order; those that asked to be spared only as a last resort. */
export function candidatesAmong(
  givers: Givers,
  pods: readonly RunningPod[],
  withLastResort: boolean,
): readonly VictimCandidate[] {
  const candidates: VictimCandidate[] = [];
  for (const pod of pods) {
    const profile = profileOf(givers, pod);
    if (profile === undefined || findObjection(VICTIM_RULES, pod, givers.taker) !== undefined) continue;
    if (withLastResort || pod.mayBePreempted) candidates.push({ pod, profile });
    else givers.hasSpared = true;
  }
  return candidates;
}

/**
 * Orders pods by which is evicted first for the taker: those that asked to be spared, and originators, come last (S2-5,
 * S2-6).
 */
export function goingOrder({ taker }: Givers): (a: RunningPod, b: RunningPod) => number {
  const { tree, queue } = taker;
  const isNearPreferred = tree.queues[queue]?.preemption.preferNear === true;
  return (a, b) => {
    const rank = sparedRank(a) - sparedRank(b) || a.priority - b.priority;
    if (rank !== 0 || !isNearPreferred) return rank || compareGoingFirst(a, b);
    return distanceTo(taker, a.queue) - distanceTo(taker, b.queue) || compareGoingFirst(a, b);
  };
}

/** The rule that keeps a queue from giving. */
export function giverObjection(givers: Givers, name: string): ReclaimRule<number> | undefined {
  const { objections, taker } = givers;
  if (objections.has(name)) return objections.get(name);
  const objection = findObjection(GIVER_RULES, numberOf(taker.tree, name), taker);
  objections.set(name, objection);
  return objection;
}

/** How far up from the taker's queue the two paths meet (S2-23). */
function distanceTo({ above, tree }: Taker, name: string): number {
  const path = new Set(pathOf(tree, numberOf(tree, name)));
  return [...above].findIndex((queue) => path.has(queue));
}

function profileOf(givers: Givers, { queue, requests }: RunningPod): Profile | undefined {
  let ofQueue = givers.profiles.get(queue);
  if (ofQueue === undefined) {
    ofQueue = new Map<QueueAmounts, Profile | undefined>();
    givers.profiles.set(queue, ofQueue);
  }
  const known = ofQueue.get(requests);
  if (known !== undefined || ofQueue.has(requests)) return known;
  const profile = lossProfile(givers, queue, requests);
  ofQueue.set(requests, profile);
  return profile;
}

/** What a loss gives and costs; nothing where a rule forbids it. A queue that no longer exists gives nothing, because its guarantee is unknown. */
export function lossProfile(givers: Givers, name: string, amounts: QueueAmounts): Profile | undefined {
  const queue = givers.taker.tree.indexes.get(name);
  if (queue === undefined || giverObjection(givers, name) !== undefined) return undefined;
  if (findObjection(LOSS_RULES, { queue, amounts }, givers.taker) !== undefined) return undefined;
  const profile = countedProfile(givers, queue, amounts);
  return profile.gives.some((amount) => amount > 0) ? profile : undefined;
}

function countedProfile(givers: Givers, queue: number, requests: QueueAmounts): Profile {
  const { crowded, taker } = givers;
  const path = pathOf(taker.tree, queue);
  const below = (above: number): boolean => path.includes(above);
  return {
    gives: [
      ...taker.types.map((type) => requests.get(type) ?? 0),
      ...crowded.map(({ queue: above, type }) => (below(above) ? (requests.get(type) ?? 0) : 0)),
    ],
    costs: path.filter((each) => !taker.above.has(each)).flatMap((each) => costsOf(givers, each, requests)),
  };
}

/** A queue above both gains what it loses, so it does not lose anything (S2-10). */
function costsOf(givers: Givers, queue: number, requests: QueueAmounts): readonly (readonly [number, Whole])[] {
  const costs: (readonly [number, Whole])[] = [];
  for (const [type, amount] of requests) {
    const kept = amount > 0 ? keptOf(givers.taker, queue, type) : undefined;
    if (kept !== undefined) costs.push([reserveNumber(givers, { queue, type, kept }), amount]);
  }
  return costs;
}

interface Kept {
  readonly queue: number;
  readonly type: string;
  readonly kept: Whole;
}

function reserveNumber({ reserveNumbers, reserves, taker }: Givers, { queue, type, kept }: Kept): number {
  const key = `${queue} ${type}`;
  const known = reserveNumbers.get(key);
  if (known !== undefined) return known;
  reserveNumbers.set(key, reserves.length);
  return reserves.push(minus(heldBy(taker, queue, type), kept)) - 1;
}
