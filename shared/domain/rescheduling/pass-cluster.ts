import type { Because } from '#shared/domain/base/because.ts';
import { sortInSteps, type Steps } from '#shared/domain/base/steps.ts';
import { byName } from '#shared/domain/base/texts.ts';
import type { Container, Instant } from '#shared/domain/pod/pod.ts';
import {
  type ClusterSnapshot,
  type PodFigures,
  isFreshReport,
  type NodePressureFacts,
} from '#shared/domain/snapshot/cluster-snapshot.ts';
import { DRAIN_TAINTS, type NodeEntry, type Node, type Taint } from '#shared/domain/snapshot/node-entry.ts';
import { hasTrait, type PlacedPod, TRAITS, traitsOfPods } from '#shared/domain/snapshot/placed-pod.ts';
import { createOwnerGroups, type OwnerGroups } from './owner-groups.ts';
import { REASONS } from './messages.ts';

/*
 * The cluster of one pass in plain numbers. The snapshot is shared with the extender and must not change, so planned
 * moves are counted here, twice: as kube-scheduler sees them while the moved pods terminate, and once they are gone.
 */

/** Resources by their column in a row. */
export const CPU = 0;
export const MEMORY = 1;

/** The total of the pods of a node. */
export interface Sums {
  /** By column. */
  readonly row: Float64Array;
  /** Cpu and memory as kube-scheduler's scores count them: a container without a request counts as a small one. */
  readonly scored: Float64Array;
}

/** A node of a pass. */
export interface PassNode {
  readonly index: number;
  readonly name: string;
  readonly entry: NodeEntry;
  /** The `TRAITS` of its pods together. */
  readonly traits: number;
  /** By column. */
  readonly capacity: Float64Array;
  /** Including the pods that are still terminating. */
  readonly held: Sums;
  /** After all planned moves. */
  readonly later: Sums;
  /** Measured usage of cpu and memory; `undefined` if there is no fresh measurement. */
  readonly used: Float64Array | undefined;
  freeSlots: number;
  /** Why it is neither source nor target. */
  readonly closed: Because | undefined;
}

/** Measured usage of a pod: milli of cpu, bytes of memory. */
export interface PodUse {
  readonly cpu: number;
  readonly memory: number;
}

/** Measurements, all of them fresh. */
export interface Measurements {
  readonly ofNode: (name: string) => PodUse | undefined;
  readonly ofPod: (uid: string) => PodUse | undefined;
  /** What the agent of its node reports about a pod; it names few pods of a node. */
  readonly figuresOf?: ((uid: string) => PodFigures | undefined) | undefined;
}

export const NO_MEASUREMENTS: Measurements = { ofNode: () => undefined, ofPod: () => undefined };

export interface PassCluster {
  readonly snapshot: ClusterSnapshot;
  readonly nodes: readonly PassNode[];
  readonly byName: ReadonlyMap<string, PassNode>;
  /** By column, for the open nodes that have the resource. */
  readonly meanCapacity: Float64Array;
  readonly owners: OwnerGroups;
  readonly measurements: Measurements;
  /** Whether kube-scheduler knows the controllers of a kind; it spreads their pods by default. */
  readonly spreads: (kind: string) => boolean;
  readonly now: Instant;
}

/** `plugins/helper/spread.go` DefaultSelector. */
const SPREAD_KINDS: readonly string[] = ['ReplicaSet', 'ReplicationController', 'StatefulSet'];

export interface ReadOptions {
  readonly now: Instant;
  /** The nodes that the policy selects. */
  readonly isSelected: (labels: ReadonlyMap<string, string>) => boolean;
  readonly spreads?: PassCluster['spreads'];
}

const NODES_PER_STEP = 50;
/** Why the sums for a pod can differ from its requests. */
const SUMMED = TRAITS.terminating | TRAITS.lacksRequests;

/** Reads a snapshot into numbers; nodes by name, since the first of equal ones is expected to take a pod. */
export function* readCluster(
  snapshot: ClusterSnapshot,
  measurements: Measurements,
  { now, isSelected, spreads = (kind) => SPREAD_KINDS.includes(kind) }: ReadOptions,
): Steps<PassCluster> {
  const nodes: PassNode[] = [];
  const entries = yield* sortInSteps([...snapshot.nodes.values()], (a, b) => byName(a.node, b.node));
  for (const entry of entries) {
    const closed = whyClosed(entry.node, snapshot.pressures.get(entry.node.name), { now, isSelected });
    const node = readNode(entry, nodes.length, { used: usedOn(entry, measurements), closed });
    for (const placed of podsWith(node, SUMMED)) countPod(node, placed);
    if (nodes.push(node) % NODES_PER_STEP === 0) yield;
  }
  const named = new Map(nodes.map((node) => [node.name, node]));
  const owners = createOwnerGroups(snapshot, named);
  const meanCapacity = meanCapacityOf(nodes.filter(({ closed }) => closed === undefined));
  return { snapshot, nodes, byName: named, meanCapacity, owners, measurements, spreads, now };
}

function meanCapacityOf(nodes: readonly PassNode[]): Float64Array {
  const width = nodes.reduce((most, { capacity }) => Math.max(most, capacity.length), 0);
  return Float64Array.from({ length: width }, (_, column) => {
    const amounts = nodes.map(({ capacity }) => capacity[column] ?? 0).filter((amount) => amount > 0);
    return amounts.length === 0 ? 0 : amounts.reduce((sum, amount) => sum + amount, 0) / amounts.length;
  });
}

function readNode(entry: NodeEntry, index: number, { used, closed }: Pick<PassNode, 'used' | 'closed'>): PassNode {
  const { allocatable, allowedPods, occupancy } = entry;
  const width = Math.max(allocatable.length, occupancy.requested.length, MEMORY + 1);
  const held = sumsOf(occupancy.requested, width);
  const later = sumsOf(occupancy.requested, width);
  for (const { row } of occupancy.nominated) addRow(held.row, row, 1);
  return {
    index,
    name: entry.node.name,
    entry,
    traits: traitsOfPods(occupancy),
    capacity: rowOf(allocatable, width),
    held,
    later,
    used,
    freeSlots: Number(allowedPods) - occupancy.pods.length - occupancy.nominated.length,
    closed,
  };
}

/** Assumes that each pod requests cpu and memory. */
function sumsOf(requested: PlacedPod['row'], width: number): Sums {
  const row = rowOf(requested, width);
  return { row, scored: row.slice(CPU, MEMORY + 1) };
}

function rowOf(amounts: readonly (number | bigint)[], width: number): Float64Array {
  const row = new Float64Array(width);
  amounts.forEach((amount, column) => (row[column] = Number(amount)));
  return row;
}

/** Adds what a pod takes, `times` times. */
export function addRow(sums: Float64Array, row: PlacedPod['row'], times: number): void {
  for (let column = 0; column < row.length && column < sums.length; column += 1) {
    sums[column] = (sums[column] as number) + times * Number(row[column]);
  }
}

function countPod({ held, later }: PassNode, placed: PlacedPod): void {
  if (hasTrait(placed, TRAITS.lacksRequests)) for (const sums of [held, later]) addScored(sums, defaultsOf(placed), 1);
  if (hasTrait(placed, TRAITS.terminating)) addPod(later, placed, -1);
}

function addScored({ scored }: Sums, [cpu, memory]: readonly [number, number], times: number): void {
  scored[CPU] = (scored[CPU] as number) + times * cpu;
  scored[MEMORY] = (scored[MEMORY] as number) + times * memory;
}

/** Adds a pod to sums, `times` times. */
function addPod(sums: Sums, placed: PlacedPod, times: number): void {
  addRow(sums.row, placed.row, times);
  addScored(sums, scoredAmounts(placed), times);
}

/** The sums of a node without one of its pods. */
export function sumsWithout({ row, scored }: Sums, placed: PlacedPod): Sums {
  const sums = { row: row.slice(), scored: scored.slice() };
  addPod(sums, placed, -1);
  return sums;
}

const DEFAULT_MILLI_CPU = 100;
const DEFAULT_MEMORY = 200 * 1024 * 1024;

/** `pkg/scheduler/util/pod_resources.go` GetNonzeroRequests. Exact where a pod requests both or neither. */
export function scoredAmounts(placed: PlacedPod): readonly [cpu: number, memory: number] {
  const { row } = placed;
  const [cpu, memory] = defaultsOf(placed);
  return [Number(row[CPU] ?? 0) + cpu, Number(row[MEMORY] ?? 0) + memory];
}

/** Cpu and memory that count in addition to the pod's requests. */
function defaultsOf(placed: PlacedPod): readonly [cpu: number, memory: number] {
  if (!hasTrait(placed, TRAITS.lacksRequests)) return [0, 0];
  const { containers } = placed.pod.spec;
  return [DEFAULT_MILLI_CPU * without(containers, 'cpu'), DEFAULT_MEMORY * without(containers, 'memory')];
}

function without(containers: readonly Container[], resource: string): number {
  return containers.filter(({ resources }) => resources.requests?.has(resource) !== true).length;
}

/** The larger of the node's figure and the sum of its pods: the node's figure cannot exceed its capacity. */
function usedOn(entry: NodeEntry, { ofNode, ofPod }: Measurements): Float64Array | undefined {
  const node = ofNode(entry.node.name);
  if (node === undefined) return undefined;
  const sums = Float64Array.of(0, 0);
  for (const { pod } of entry.occupancy.pods) {
    const use = ofPod(pod.uid);
    if (use !== undefined) addUse(sums, use, 1);
  }
  return Float64Array.of(Math.max(node.cpu, sums[CPU] as number), Math.max(node.memory, sums[MEMORY] as number));
}

/** Adds what a pod uses, `times` times. */
export function addUse(sums: Float64Array, { cpu, memory }: PodUse, times: number): void {
  sums[CPU] = (sums[CPU] as number) + times * cpu;
  sums[MEMORY] = (sums[MEMORY] as number) + times * memory;
}

/** The pods of a node with a trait: on most nodes none has it, and their pods are not read from memory. */
export function podsWith(node: PassNode, trait: number): readonly PlacedPod[] {
  return hasTrait(node, trait) ? node.entry.occupancy.pods.filter((placed) => hasTrait(placed, trait)) : [];
}

/** The node of a pod of an owner. */
export function nodeOf({ byName }: Pick<PassCluster, 'byName'>, { pod }: PlacedPod): PassNode {
  return byName.get(pod.spec.nodeName as string) as PassNode;
}

/** Counts a planned move: the target has the pod from now on, the source until it has terminated. */
export function applyMove(cluster: PassCluster, placed: PlacedPod, source: PassNode, target: PassNode): void {
  addPod(source.later, placed, -1);
  addPod(target.later, placed, 1);
  addPod(target.held, placed, 1);
  target.freeSlots -= 1;
  const use = cluster.measurements.ofPod(placed.pod.uid);
  if (use === undefined) return;
  if (source.used !== undefined) addUse(source.used, use, -1);
  if (target.used !== undefined) addUse(target.used, use, 1);
}

/** Autoscalers put these taints on nodes that they are about to empty; some only prefer that no pod is placed there. */
const EMPTYING: readonly string[] = [...DRAIN_TAINTS, 'DeletionCandidateOfClusterAutoscaler'];

/**
 * Why a node is neither source nor target; `undefined` if it may be both. A node that is low because it is closed must
 * never be filled (S3-41); the component or person that closed it empties it.
 */
function whyClosed(
  node: Node,
  pressure: NodePressureFacts | undefined,
  { now, isSelected }: { readonly now: Instant; readonly isSelected: (labels: Node['labels']) => boolean },
): Because | undefined {
  const { name } = node;
  if (!isSelected(node.labels)) return REASONS.nodeNotSelected({ node: name });
  if (node.isUnschedulable) return REASONS.nodeCordoned({ node: name });
  if (node.isUnready === true) return REASONS.nodeNotReady({ node: name });
  const emptying = node.taints.find(({ key }) => EMPTYING.includes(key));
  if (emptying !== undefined) return REASONS.nodeEmptied({ node: name, taint: emptying.key });
  const taint = node.taints.find(keepsPodsAway);
  if (taint !== undefined) return REASONS.nodeTainted({ node: name, taint: taint.key });
  return isUnderPressure(pressure, now) ? REASONS.nodeUnderPressure({ node: name }) : undefined;
}

function keepsPodsAway({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}

function isUnderPressure(facts: NodePressureFacts | undefined, now: Instant): boolean {
  return facts?.pressure !== undefined && isFreshReport(facts.observedAt, now);
}
