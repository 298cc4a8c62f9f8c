import type { Because } from '#shared/domain/base/because.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { PastMove } from './memory.ts';
import { REASONS } from './messages.ts';
import {
  CPU,
  MEMORY,
  type PassCluster,
  type PassNode,
  type PodUse,
  type Measurements,
  NO_MEASUREMENTS,
} from './pass-cluster.ts';
import type { Percentages, UnderusedPolicy } from './policy.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import {
  type ClusterSnapshot,
  isFreshReport,
  MAX_AGE_MS,
  type NodePressureFacts,
  type PodFigures,
} from '#shared/domain/snapshot/cluster-snapshot.ts';

/*
 * How full nodes are and how a move changes that. Gains are counted in points: a hundred times the decrease of the sum
 * of squared loads. Each node is weighted by its size: otherwise that sum would be smallest with large nodes fuller
 * than small ones, and pods would stay on large nodes above their target.
 */

const POINTS = 100;
const CPU_AND_MEMORY = [{ column: CPU }, { column: MEMORY }] as const;

/** How full nodes are, and by how much a pod fills them: by requests or by measured use. */
interface Measure {
  readonly limits: readonly Pick<TargetLoad, 'column'>[];
  readonly load: (node: PassNode, column: number) => number;
  readonly amount: (placed: PlacedPod, column: number) => number;
  /** How many nodes of mean size a node stands for. */
  readonly weight: (node: PassNode, column: number) => number;
}

/** Loads with targets. */
export interface Yardstick extends Measure {
  /** Columns with their targets and what counts as low, as shares. */
  readonly limits: readonly TargetLoad[];
  readonly by: 'requests' | 'usage';
}

interface TargetLoad {
  readonly resource: string;
  readonly column: number;
  readonly target: number;
  readonly low: number;
}

/** The part of the room above a target that more important moves may use. */
const RELAXED_SHARE = 0.3;

/** A copy with higher targets. */
export function relaxed(yardstick: Yardstick): Yardstick {
  const raised = (target: number): number => target + RELAXED_SHARE * Math.max(0, 1 - target);
  return { ...yardstick, limits: yardstick.limits.map((limit) => ({ ...limit, target: raised(limit.target) })) };
}

/** A copy whose target is the mean load of some nodes, if that is lower. */
export function towardsMean(yardstick: Yardstick, nodes: readonly PassNode[]): Yardstick {
  const mean = ({ column }: TargetLoad): number => {
    const size = (node: PassNode): number => node.capacity[column] ?? 0;
    const taken = nodes.reduce((sum, node) => sum + yardstick.load(node, column) * size(node), 0);
    return share(
      taken,
      nodes.reduce((sum, node) => sum + size(node), 0),
    );
  };
  const limits = yardstick.limits.map((limit) => ({ ...limit, target: Math.min(limit.target, mean(limit)) }));
  return { ...yardstick, limits };
}

/** Prepares the computation of loads. */
export function yardstickOf(cluster: PassCluster, { by, low, target }: UnderusedPolicy): Yardstick {
  const { indexes } = cluster.snapshot.columns;
  const columns = [...target].flatMap(([resource, percent]) => {
    const column = indexes.get(resource);
    return column === undefined || (by === 'Usage' && column > MEMORY)
      ? []
      : [limitOf(resource, column, [low, percent])];
  });
  if (by === 'Requests') return { ...requestsOf(cluster), limits: columns, by: 'requests' };
  const { ofPod } = cluster.measurements;
  return {
    limits: columns,
    load: usedShare,
    amount: ({ pod }, column) => useOf(ofPod(pod.uid), column),
    weight: weightIn(cluster),
    by: 'usage',
  };
}

function requestsOf(cluster: PassCluster): Measure {
  return {
    limits: CPU_AND_MEMORY,
    load: requestedShare,
    amount: ({ row }, column) => Number(row[column] ?? 0),
    weight: weightIn(cluster),
  };
}

function weightIn({ meanCapacity }: PassCluster): Yardstick['weight'] {
  return ({ capacity }, column) => share(capacity[column] ?? 0, meanCapacity[column] ?? 0);
}

function limitOf(resource: string, column: number, [low, target]: readonly [Percentages, number]): TargetLoad {
  return { resource, column, target: target / 100, low: (low.get(resource) ?? target) / 100 };
}

function requestedShare({ capacity, later }: PassNode, column: number): number {
  return share(later.row[column] ?? 0, capacity[column] ?? 0);
}

function usedShare({ capacity, used }: PassNode, column: number): number {
  return share(used?.[column] ?? 0, capacity[column] as number);
}

function share(amount: number, capacity: number): number {
  return capacity === 0 ? 0 : amount / capacity;
}

function useOf(use: PodUse | undefined, column: number): number {
  return (column === CPU ? use?.cpu : use?.memory) ?? 0;
}

/**
 * Whether a node is below the `low` threshold of every resource that it has: a node without GPUs is not low in GPUs.
 */
export function isLow({ limits, load }: Yardstick, node: PassNode): boolean {
  const own = limits.filter((limit) => hasResource(node, limit));
  return own.length > 0 && own.every(({ column, low }) => load(node, column) < low);
}

function hasResource({ capacity }: PassNode, { column }: Pick<TargetLoad, 'column'>): boolean {
  return (capacity[column] ?? 0) > 0;
}

/** The nodes that are low; if some nodes are above a target, only those with a resource that they have too little of. */
export function lowNodes(yardstick: Yardstick, nodes: readonly PassNode[]): readonly PassNode[] {
  const { limits, load } = yardstick;
  const exceeded = limits.filter(({ column, target }) => nodes.some((node) => load(node, column) > target));
  const helps = (node: PassNode): boolean => exceeded.some((limit) => hasResource(node, limit));
  return nodes.filter((node) => isLow(yardstick, node) && (exceeded.length === 0 || helps(node)));
}

/** How far the fullest resource is above its target; negative if none is. */
export function excess({ limits, load }: Yardstick, node: PassNode): number {
  return limits.reduce((most, { column, target }) => Math.max(most, load(node, column) - target), -Infinity);
}

/** How much the pod reduces the node's excess above its targets. */
export function relief({ limits, load, amount }: Yardstick, node: PassNode, placed: PlacedPod): number {
  return limits.reduce((sum, { column, target }) => {
    const over = load(node, column) - target;
    return over <= 0 ? sum : sum + Math.min(over, share(amount(placed, column), node.capacity[column] as number));
  }, 0);
}

/** The decrease of the sum of squared loads, in points, if the pod moved from one node to the other. */
export function moveGain(
  { limits, load, amount, weight }: Measure,
  placed: PlacedPod,
  [source, target]: readonly [PassNode, PassNode],
): number {
  const fall = limits.reduce((sum, { column }) => {
    const taken = amount(placed, column);
    const [from, to] = [load(source, column), load(target, column)];
    const left = from - share(taken, source.capacity[column] ?? 0);
    const filled = to + share(taken, target.capacity[column] ?? 0);
    return sum + weight(source, column) * (from ** 2 - left ** 2) + weight(target, column) * (to ** 2 - filled ** 2);
  }, 0);
  return fall * POINTS;
}

/** How much less a move gains, in points, if the source turns out to be this much less full. */
export function gainLost(
  { limits, amount, weight }: Measure,
  source: PassNode,
  placed: PlacedPod,
  less: number,
): number {
  const lost = (column: number): number =>
    2 * less * weight(source, column) * share(amount(placed, column), source.capacity[column] ?? 0);
  return POINTS * limits.reduce((sum, { column }) => sum + lost(column), 0);
}

/** The decrease of `unevenness` if a pod moved from one node to the other. */
export function evenedOut(cluster: PassCluster, placed: PlacedPod, nodes: readonly [PassNode, PassNode]): number {
  return moveGain(requestsOf(cluster), placed, nodes);
}

/** Why a node would be above its target with the pod; `undefined` if it would not. */
export function overTarget(
  { limits, load, amount }: Yardstick,
  target: PassNode,
  placed: PlacedPod,
): Because | undefined {
  for (const limit of limits) {
    const full = load(target, limit.column) + share(amount(placed, limit.column), target.capacity[limit.column] ?? 0);
    if (full > limit.target) return REASONS.overTarget({ node: target.name, resource: limit.resource, load: full });
  }
  return undefined;
}

/** The sum of the squared loads of cpu and memory, by requests, over all open nodes; in points. */
export function unevenness(cluster: PassCluster): number {
  const weight = weightIn(cluster);
  const open = cluster.nodes.filter(({ closed }) => closed === undefined);
  const squared = (node: PassNode, column: number): number => weight(node, column) * requestedShare(node, column) ** 2;
  return POINTS * open.reduce((sum, node) => sum + squared(node, CPU) + squared(node, MEMORY), 0);
}

/** The loads of a node by which a move of this policy is evaluated later. */
export function loadsOf(yardstick: Yardstick, node: PassNode): readonly number[] {
  return yardstick.limits.map(({ column }) => yardstick.load(node, column));
}

/** What a move gained, from the load of the source before it and of the replacement's node now. */
export function reachedGain(
  { limits, load, amount, weight }: Yardstick,
  { sourceLoad }: PastMove,
  [placed, source, node]: readonly [PlacedPod, PassNode | undefined, PassNode],
): number {
  const fall = limits.reduce((sum, { column }, at) => {
    const before = sourceLoad[at];
    // The policy has named the resource only since the move.
    if (before === undefined) return sum;
    const taken = amount(placed, column);
    const here = share(taken, node.capacity[column] ?? 0);
    const there = share(taken, (source ?? node).capacity[column] ?? 0);
    const now = load(node, column);
    const fallen = weight(source ?? node, column) * (before ** 2 - (before - there) ** 2);
    return sum + fallen + weight(node, column) * ((now - here) ** 2 - now ** 2);
  }, 0);
  return node === source ? 0 : fall * POINTS;
}

/** States that a node is above its target, for the resource that is furthest above. */
export function whyOver(yardstick: Yardstick, node: PassNode): Because {
  return REASONS.overloaded(furthestAbove(yardstick, node));
}

/** States that moves have filled a node; the targets are mean loads (`towardsMean`). */
export function whyFilled(yardstick: Yardstick, node: PassNode): Because {
  return REASONS.filled(furthestAbove(yardstick, node));
}

function furthestAbove({ limits, load, by }: Yardstick, node: PassNode) {
  const over = limits.toSorted((a, b) => load(node, b.column) - b.target - (load(node, a.column) - a.target));
  const { resource, column, target } = over[0] as TargetLoad;
  return { node: node.name, resource, load: load(node, column), target: Math.round(target * 100), by };
}

/**
 * The memory use of nodes, and of the pods that agents name, according to fresh NodePressures, and the memory pressure
 * of these pods. A node without a fresh report has no measurement, and no pod is moved off it by usage.
 */
export function measurementsIn({ pressures }: ClusterSnapshot, now: Instant): Measurements {
  const fresh = [...pressures.values()].filter((facts) => isFresh(facts, now));
  if (fresh.length === 0) return NO_MEASUREMENTS;
  const ofNodes = new Map<string, PodUse>();
  const ofPods = new Map<string, PodUse>();
  const figures = new Map<string, PodFigures>();
  for (const { node, memory, pods } of fresh) {
    if (memory !== undefined) ofNodes.set(node, { cpu: 0, memory: memory.used });
    for (const [uid, used] of memory?.ofPods ?? []) ofPods.set(uid, { cpu: 0, memory: used });
    for (const [uid, each] of pods ?? []) figures.set(uid, each);
  }
  return {
    ofNode: (name) => ofNodes.get(name),
    ofPod: (uid) => ofPods.get(uid),
    figuresOf: (uid) => figures.get(uid),
  };
}

/** A quiet agent reports memory that has moved within two minutes, and else every six. */
function isFresh({ observedAt, pressure }: NodePressureFacts, now: Instant): boolean {
  return isFreshReport(observedAt, now, MAX_AGE_MS[pressure === undefined ? 'otherwise' : 'underPressure']);
}
