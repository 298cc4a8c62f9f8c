import type { Because } from '#shared/domain/model/because.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { PastMove } from '#shared/domain/rescheduling/memory.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import { CPU, MEMORY, type PassCluster, type PassNode, type PodUse } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { Percentages, UnderusedPolicy } from '#shared/domain/rescheduling/policy.ts';
import type { RunningPod } from '#shared/domain/rescheduling/running-pod.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { type PolicyInput, SHORT_AVOID_MS, type Wish, type WishGroup } from './wish.ts';

/** Gains are counted in points: a hundred times the fall of the sum of squared loads. */
const POINTS = 100;
/** Readings in succession above its target after which a node's use counts. */
const READINGS = 3;

/** How full nodes are, and by how much a pod fills them: by requests or by measured use. */
interface Yardstick {
  /** Columns with their targets and what counts as low, as shares. */
  readonly limits: readonly Limit[];
  readonly load: (node: PassNode, column: number) => number;
  readonly amount: (placed: PlacedPod, column: number) => number;
  readonly by: string;
}

interface Limit {
  readonly resource: string;
  readonly column: number;
  readonly target: number;
  readonly low: number;
}

/** Pods of nodes above `target`, as long as some node is below `low`. One group for each such node. */
export function* wishesOfUnderused(input: PolicyInput, underused: UnderusedPolicy): Steps<readonly WishGroup[]> {
  const { cluster, memory } = input;
  const yardstick = yardstickOf(cluster, underused);
  const open = cluster.nodes.filter((node) => node.closed === undefined && isMeasured(node, underused));
  if (!open.some((node) => isLow(yardstick, node))) return [];
  const groups: WishGroup[] = [];
  for (const node of open) {
    if (excess(yardstick, node) <= 0) continue;
    if (underused.by === 'Usage' && (memory.hotReadings.get(node.name) ?? 0) < READINGS) continue;
    groups.push(groupOf(input, underused, { yardstick, node }));
    yield;
  }
  return groups;
}

/** The nodes above their target in this reading, with how many in succession there were. */
export function countHotReadings(
  before: ReadonlyMap<string, number>,
  cluster: PassCluster,
  underused: UnderusedPolicy,
): ReadonlyMap<string, number> {
  const yardstick = yardstickOf(cluster, underused);
  const hot = cluster.nodes.filter((node) => isMeasured(node, underused) && excess(yardstick, node) > 0);
  return new Map(hot.map(({ name }) => [name, Math.min(READINGS, (before.get(name) ?? 0) + 1)]));
}

function isMeasured({ used }: PassNode, { by }: UnderusedPolicy): boolean {
  return by === 'Requests' || used !== undefined;
}

/** Of the room above a target, what a move may use that matters more than an even load. */
const RELAXED_SHARE = 0.3;

/** The same with higher targets. */
export function relaxed(yardstick: Yardstick): Yardstick {
  const raised = (target: number): number => target + RELAXED_SHARE * Math.max(0, 1 - target);
  return { ...yardstick, limits: yardstick.limits.map((limit) => ({ ...limit, target: raised(limit.target) })) };
}

/** Prepares how loads are read. */
export function yardstickOf(cluster: PassCluster, { by, low, target }: UnderusedPolicy): Yardstick {
  const { indexes } = cluster.snapshot.columns;
  const columns = [...target].flatMap(([resource, percent]) => {
    const column = indexes.get(resource);
    return column === undefined || (by === 'Usage' && column > MEMORY)
      ? []
      : [limitOf(resource, column, [low, percent])];
  });
  if (by === 'Requests') {
    return {
      limits: columns,
      load: requestedShare,
      amount: ({ row }, column) => Number(row[column] ?? 0),
      by: 'requests',
    };
  }
  const { ofPod } = cluster.measurements;
  return { limits: columns, load: usedShare, amount: ({ pod }, column) => useOf(ofPod(pod.uid), column), by: 'usage' };
}

function limitOf(resource: string, column: number, [low, target]: readonly [Percentages, number]): Limit {
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

function isLow({ limits, load }: Yardstick, node: PassNode): boolean {
  return limits.every(({ column, low }) => load(node, column) < low);
}

/** How far the fullest resource is above its target; below 0 where none is. */
function excess({ limits, load }: Yardstick, node: PassNode): number {
  return limits.reduce((most, { column, target }) => Math.max(most, load(node, column) - target), -Infinity);
}

interface Source {
  readonly yardstick: Yardstick;
  readonly node: PassNode;
}

function groupOf(input: PolicyInput, underused: UnderusedPolicy, source: Source): WishGroup {
  const { yardstick, node } = source;
  const wishes = (): readonly Wish[] =>
    node.entry.occupancy.pods.flatMap((placed) => {
      const movable = input.movable(placed, node);
      return movable?.kind === 'movable' ? [wishOf(input, underused, { ...source, pod: movable.pod })] : [];
    });
  return { wishes, urgency: () => Math.max(0, excess(yardstick, node)) };
}

function wishOf(
  { restraint }: PolicyInput,
  underused: UnderusedPolicy,
  { yardstick, node, pod }: Source & { readonly pod: RunningPod },
): Wish {
  return {
    policy: 'underused',
    pod,
    because: whyOver(yardstick, node),
    worth: () => relief(yardstick, node, pod.placed),
    // What a node without a measurement would gain is not known.
    gainOn: (target) => (isMeasured(target, underused) ? moveGain(yardstick, pod.placed, [node, target]) : 0),
    leastGain: underused.gain ?? restraint.gain,
    reasonAgainst: () => undefined,
    avoidForMs: SHORT_AVOID_MS,
  };
}

function whyOver({ limits, load, by }: Yardstick, node: PassNode): Because {
  const over = limits.toSorted((a, b) => load(node, b.column) - b.target - (load(node, a.column) - a.target));
  const { resource, column, target } = over[0] as Limit;
  return REASONS.overloaded({
    node: node.name,
    resource,
    load: load(node, column),
    target: Math.round(target * 100),
    by,
  });
}

/** How much of what the node is above its targets goes with the pod. */
function relief({ limits, load, amount }: Yardstick, node: PassNode, placed: PlacedPod): number {
  return limits.reduce((sum, { column, target }) => {
    const over = load(node, column) - target;
    return over <= 0 ? sum : sum + Math.min(over, share(amount(placed, column), node.capacity[column] as number));
  }, 0);
}

/** The fall of the sum of squared loads, in points, if the pod moved from one node to the other. */
function moveGain(
  { limits, load, amount }: Yardstick,
  placed: PlacedPod,
  [source, target]: readonly [PassNode, PassNode],
): number {
  const fall = limits.reduce((sum, { column }) => {
    const before = [load(source, column), load(target, column)] as const;
    const taken = amount(placed, column);
    const after = [
      before[0] - share(taken, source.capacity[column] ?? 0),
      before[1] + share(taken, target.capacity[column] ?? 0),
    ] as const;
    return sum + squares(before) - squares(after);
  }, 0);
  return fall * POINTS;
}

function squares([a, b]: readonly [number, number]): number {
  return a * a + b * b;
}

/** Why a node would be above its target with the pod; `undefined` where it would not. */
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

/** The sum of the squared loads of cpu and memory, by requests, of all open nodes; in points. */
export function unevenness({ nodes }: PassCluster): number {
  const open = nodes.filter(({ closed }) => closed === undefined);
  return (
    POINTS * open.reduce((sum, node) => sum + squares([requestedShare(node, CPU), requestedShare(node, MEMORY)]), 0)
  );
}

/** The loads of a node that a move of this policy is judged by afterwards. */
export function loadsOf(yardstick: Yardstick, node: PassNode): readonly number[] {
  return yardstick.limits.map(({ column }) => yardstick.load(node, column));
}

/** What a move gained, by the loads of the source before it and of the node that holds the replacement now. */
export function reachedGain(
  { limits, load, amount }: Yardstick,
  { sourceLoad }: PastMove,
  [placed, source, node]: readonly [PlacedPod, PassNode | undefined, PassNode],
): number {
  const fall = limits.reduce((sum, { column }, at) => {
    const before = sourceLoad[at];
    // The policy names the resource since the move only.
    if (before === undefined) return sum;
    const taken = amount(placed, column);
    const here = share(taken, node.capacity[column] ?? 0);
    const there = share(taken, (source ?? node).capacity[column] ?? 0);
    const now = load(node, column);
    return sum + squares([before, now - here]) - squares([before - there, now]);
  }, 0);
  return node === source ? 0 : fall * POINTS;
}
