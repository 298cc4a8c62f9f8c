import { createColumns, type ResourceColumns } from '#shared/domain/quantity/resource-columns.ts';
import { type OwnerKey, type Instant, MAX_SKEW_MS } from '#shared/domain/pod/pod.ts';
import type { StalledResource } from '#shared/domain/pressure/signal.ts';
import { AntiAffinePods, type BudgetEntry, createOccupancy, type Occupancy, type PlacedPod } from './placed-pod.ts';
import type { NodeEntry } from './node-entry.ts';

/**
 * By namespace, then by the UID of the controller: the cost of a tenant's change depends only on the pods of its own
 * namespace.
 */
export type PodsByNamespace = Map<string, Map<string, Set<PlacedPod>>>;

/**
 * The state that scheduling decisions use, prepared so that a decision only reads numbers. Decisions never change it;
 * the functions of `snapshot-pods.ts` and `create-snapshot.ts` do, **in place**, in time that does not grow with the
 * cluster unless they say so.
 */
export interface ClusterSnapshot {
  readonly columns: ResourceColumns;
  readonly nodes: Map<string, NodeEntry>;
  /** By node name, including nodes that are not known yet. */
  readonly occupancies: Map<string, Occupancy>;
  /** Nodes, known or not, to which pending pods are nominated: few, so that most decisions need not check each node. */
  readonly nominatedNodes: Set<string>;
  /** Every pod that is on a node or nominated to one, by UID. */
  readonly placedPods: Map<string, PlacedPod>;
  /** Pods that request a resource that no node has had so far. */
  readonly uncounted: Set<PlacedPod>;
  /** Pods on nodes that keep other pods away. */
  readonly antiAffine: AntiAffinePods;
  readonly podsByNamespace: PodsByNamespace;
  /** By namespace, then by name. */
  readonly budgets: Map<string, Map<string, BudgetEntry>>;
  /** The same budgets by slot; a slot may be free. */
  readonly budgetSlots: (BudgetEntry | undefined)[];
  readonly freeBudgetSlots: number[];
  /** Pods that kubelets refused, by UID, the oldest first. They take no room, and controllers replace them. */
  readonly refusals: Map<string, KubeletRefusal>;
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
    podsByNamespace: new Map(),
    budgets: new Map(),
    budgetSlots: [],
    freeBudgetSlots: [],
    refusals: new Map(),
    namespaces: new Map(),
    pressures: new Map(),
    daemonSets: new Map(),
    arrivals: 0,
  };
}

/** The pods of a node; creates an empty entry for an unknown name. */
export function occupancyOf(snapshot: ClusterSnapshot, nodeName: string): Occupancy {
  const known = snapshot.occupancies.get(nodeName);
  if (known !== undefined) return known;
  const occupancy = createOccupancy();
  snapshot.occupancies.set(nodeName, occupancy);
  return occupancy;
}

/** Removes the entry of an unknown node that has no pod left. */
export function forgetIfDeserted(snapshot: ClusterSnapshot, nodeName: string): void {
  const { pods, nominated } = occupancyOf(snapshot, nodeName);
  if (pods.length + nominated.length === 0 && !snapshot.nodes.has(nodeName)) snapshot.occupancies.delete(nodeName);
}

/** Marks that the pods of a node, or what they count for, have changed. */
export function forgetSheet(snapshot: ClusterSnapshot, nodeName: string): void {
  const entry = snapshot.nodes.get(nodeName);
  if (entry !== undefined) entry.sheet = undefined;
}

/** A pod that the kubelet of its node refused to run. */
export interface KubeletRefusal {
  readonly node: string;
  readonly owner: OwnerKey;
  readonly reason: string;
  readonly at: Instant;
}

/** A node's NodePressure as decisions about preemption and placement see it. */
export interface NodePressureFacts {
  readonly node: string;
  /** When its agent last reported; `undefined` if never. */
  readonly observedAt: Instant | undefined;
  /** Whether the agent evicts pods; otherwise it only reports. */
  readonly isEnforced: boolean;
  /** The worst state among the signals for which pods are evicted; `undefined` if all are far from their thresholds. */
  readonly pressure: 'Soft' | 'Hard' | undefined;
  /** Pods, by UID, that use more than they request. */
  readonly overRequest: ReadonlySet<string>;
  /** Pods, by UID, whose eviction the API server has accepted and that have not ended. */
  readonly evicting: ReadonlySet<string>;
  readonly avoid: readonly AvoidedOwner[];
  /** Memory in use, in bytes: of the node, and of the pods that the agent names, by UID; absent if not reported. */
  readonly memory?: { readonly used: number; readonly ofPods: ReadonlyMap<string, number> } | undefined;
  /**
   * Measurements of single pods by its agent, by UID: pods that stall, were killed or exceed their requests by most.
   */
  readonly pods?: ReadonlyMap<string, PodFigures> | undefined;
}

/** Measurements of one pod by its agent; unknown figures are absent. */
export interface PodFigures {
  /** In milli. */
  readonly cpu?: number | undefined;
  /** In bytes. */
  readonly memory?: number | undefined;
  /** Percentage of the time in which some of its tasks waited for a resource. */
  readonly waiting: Readonly<Partial<Record<StalledResource, number | undefined>>>;
  /** Processes in it that the kernel killed for memory. */
  readonly oomKills?: number | undefined;
}

/** An owner whose pods should not be placed on the node for some time. */
interface AvoidedOwner {
  readonly owner: OwnerKey;
  readonly until: Instant;
  /** Whether the node is forbidden; otherwise it is the last choice. */
  readonly isHard: boolean;
}

const SECOND = 1000;

/** How old a report of a node's agent may be, in milliseconds (docs/contributing/decisions/agent-sources.md). */
export const MAX_AGE_MS = {
  /** While a threshold is met the agent reports every 20 s. */
  underPressure: 60 * SECOND,
  /** Otherwise at least every six minutes. */
  otherwise: 420 * SECOND,
} as const;

/** Whether a report still describes its node at `now`; if not, the node's state is unknown. */
export function isFreshReport(
  observedAt: Instant | undefined,
  now: Instant,
  longestAgeMs: number = MAX_AGE_MS.underPressure,
): boolean {
  if (observedAt === undefined) return false;
  const ageMs = now - observedAt;
  return ageMs >= -MAX_SKEW_MS && ageMs <= longestAgeMs;
}

/** A namespace; decisions use only its labels. */
export interface Namespace {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
}
