import { AntiAffinePods } from './anti-affine-pods.ts';
import type { BudgetEntry } from './budget-entry.ts';
import type { NodeEntry } from './node-entry.ts';
import type { NodePressureFacts } from './node-pressure-facts.ts';
import { createOccupancy, type Occupancy } from './occupancy.ts';
import type { PlacedPod } from './placed-pod.ts';
import { createColumns, type ResourceColumns } from '#shared/domain/quantity/resource-columns.ts';

/** What a tenant changes costs time by the pods of its own namespace only. */
export type PodsByNamespace = Map<string, Set<PlacedPod>>;

/**
 * What scheduling decisions look at, prepared so that a decision only reads numbers. Decisions never change it; the
 * functions of `snapshot-pods.ts`, `snapshot-nodes.ts` and `snapshot-budgets.ts` do, **in place**, in time that does not
 * grow with the cluster unless they say so.
 */
export interface ClusterSnapshot {
  readonly columns: ResourceColumns;
  readonly nodes: Map<string, NodeEntry>;
  /** By node name, also of nodes that are not known (yet). */
  readonly occupancies: Map<string, Occupancy>;
  /** Nodes, known or not, to which pending pods are nominated: few, so that most decisions ask no node about them. */
  readonly nominatedNodes: Set<string>;
  /** Every pod that is on a node or nominated to one, by UID. */
  readonly placedPods: Map<string, PlacedPod>;
  /** Pods that ask for a resource that no node has had so far. */
  readonly uncounted: Set<PlacedPod>;
  /** Pods on nodes that keep others away. */
  readonly antiAffine: AntiAffinePods;
  /** By namespace, absent until a budget asks for them. */
  podsByNamespace: PodsByNamespace | undefined;
  /** By namespace, then by name. */
  readonly budgets: Map<string, Map<string, BudgetEntry>>;
  /** The same by slot; a slot may be free. */
  readonly budgetSlots: (BudgetEntry | undefined)[];
  readonly freeBudgetSlots: number[];
  /** Labels by namespace name. */
  readonly namespaces: Map<string, ReadonlyMap<string, string>>;
  /** By node name, also of nodes that are not known. */
  readonly pressures: Map<string, NodePressureFacts>;
  /** UIDs by `namespace/name`. */
  readonly daemonSets: Map<string, string>;
  arrivals: number;
}

export function emptySnapshot(): ClusterSnapshot {
  return {
    columns: createColumns(),
    nodes: new Map(),
    occupancies: new Map(),
    nominatedNodes: new Set(),
    placedPods: new Map(),
    uncounted: new Set(),
    antiAffine: new AntiAffinePods(),
    podsByNamespace: undefined,
    budgets: new Map(),
    budgetSlots: [],
    freeBudgetSlots: [],
    namespaces: new Map(),
    pressures: new Map(),
    daemonSets: new Map(),
    arrivals: 0,
  };
}

/** Who is on a node; an empty place is made for a name not yet seen. */
export function occupancyOf(snapshot: ClusterSnapshot, nodeName: string): Occupancy {
  const known = snapshot.occupancies.get(nodeName);
  if (known !== undefined) return known;
  const occupancy = createOccupancy();
  snapshot.occupancies.set(nodeName, occupancy);
  return occupancy;
}

/** Forgets the entry of an unknown node that has no pod left. */
export function forgetIfDeserted(snapshot: ClusterSnapshot, nodeName: string): void {
  const { pods, nominated } = occupancyOf(snapshot, nodeName);
  if (pods.length + nominated.length === 0 && !snapshot.nodes.has(nodeName)) snapshot.occupancies.delete(nodeName);
}

/** Notes that the pods of a node, or what they count for, have changed. */
export function forgetSheet(snapshot: ClusterSnapshot, nodeName: string): void {
  const entry = snapshot.nodes.get(nodeName);
  if (entry !== undefined) entry.sheet = undefined;
}
