import { finish, type Steps } from '#shared/domain/base/steps.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { areExact, type BudgetSlots, type NodeEntry, sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod, Volume } from '#shared/domain/pod/pod.ts';
import {
  type NodeFilter,
  type PodAwareFilter,
  nodeAffinity,
  nodeName,
  nodePorts,
  nodeUnschedulable,
  taintToleration,
  type Need,
  needsOf,
  nodeResourcesFit,
} from '#shared/domain/placement/filters/node-filters.ts';
import { interPodAffinity } from '#shared/domain/placement/filters/inter-pod-affinity.ts';
import { podTopologySpread } from '#shared/domain/placement/filters/pod-topology-spread.ts';
import { podRequests } from '#shared/domain/pod/pod-requests.ts';
import { isExtendedResource, scheduledAmounts } from '#shared/domain/quantity/resource-columns.ts';

/** All filters prepared for one incoming pod on one snapshot; stale as soon as the snapshot changes. */
export interface PrefilterState {
  readonly snapshot: ClusterSnapshot;
  readonly pod: Pod;
  readonly priority: number;
  readonly needs: readonly Need[];
  /** Where in a row of a node's sheet each need stands. */
  readonly columns: readonly number[];
  readonly account: BudgetAccount;
  /** Lists of indexes that nodes share, by end and start. */
  readonly tails: Map<number, readonly number[]>[];
  readonly nodeFilters: readonly NodeFilter[];
  readonly podAwareFilters: readonly PodAwareFilter[];
  /** Only resources depend on the other pods of a node; all of them are known, and the needs are exact in doubles. */
  readonly isResourcesOnly: boolean;
}

/** The filters that look at a node alone, in the order of the default plugins. The rescheduler uses them, too. */
export const NODE_FILTERS: readonly ((pod: Pod) => NodeFilter)[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
];

/** Prepares the filters, in the order of the default plugins: `pkg/scheduler/apis/config/v1/default_plugins.go`. */
export function* prefilterInSteps(snapshot: ClusterSnapshot, pod: Pod): Steps<PrefilterState> {
  const needs = needsOf(pod, snapshot);
  const podAwareFilters = [
    nodePorts(pod),
    nodeResourcesFit(needs),
    yield* podTopologySpread(pod, snapshot),
    yield* interPodAffinity(pod, snapshot),
  ].filter((filter) => filter !== undefined);
  return {
    snapshot,
    pod,
    priority: priorityOf(pod),
    needs,
    columns: needs.map(({ column }) => column + 1),
    account: openAccount(snapshot),
    tails: [],
    nodeFilters: NODE_FILTERS.map((prepare) => prepare(pod)),
    podAwareFilters,
    isResourcesOnly: podAwareFilters.length === 1 && needs.every(isPlain),
  };
}

/** `prefilterInSteps`, run to the end. */
export function prefilter(snapshot: ClusterSnapshot, pod: Pod): PrefilterState {
  return finish(prefilterInSteps(snapshot, pod));
}

function isPlain({ amount, column }: Need): boolean {
  return column >= 0 && areExact([amount]);
}

/** The disruption budgets of a snapshot as numbers by slot, for one plan. */
interface BudgetAccount {
  readonly allowed: Float64Array;
  /** Pods whose disruption the API server has already counted; `undefined` if there are none. */
  readonly disrupted: readonly (ReadonlySet<string> | undefined)[];
  /** All 0 between two uses. */
  readonly used: Int32Array;
}

type NameOf = (index: number) => string;

const NONE: readonly number[] = [];

/** The leaving pods, by index and in order, that violate a budget, and the rest. */
interface BudgetSplit {
  readonly violators: readonly number[];
  readonly others: readonly number[];
}

function openAccount({ budgetSlots }: ClusterSnapshot): BudgetAccount {
  return {
    allowed: Float64Array.from(budgetSlots, (entry) => entry?.budget.disruptionsAllowed ?? 0),
    disrupted: budgetSlots.map((entry) => orNothing(entry?.budget.disruptedPods)),
    used: new Int32Array(budgetSlots.length),
  };
}

/** No look-up by name is needed in a set that is empty. */
function orNothing(names: ReadonlySet<string> | undefined): ReadonlySet<string> | undefined {
  return names?.size === 0 ? undefined : names;
}

/**
 * Splits the pods that would leave a node. Each uses up every budget that counts it, also the pods that are put back
 * later. `plugins/defaultpreemption/default_preemption.go` filterPodsWithPDBViolation. In 1.37
 * (FilterVictimsWithPDBViolation) a pod that violates one uses up none that is listed after it, in the order of a Go map:
 * the same answer as here for one of the orders.
 */
export function splitByBudgets(account: BudgetAccount, entry: NodeEntry, leaving: readonly number[]): BudgetSplit {
  const { budgets } = sheetOf(entry);
  if (budgets === undefined) return { violators: NONE, others: leaving };
  const violators: number[] = [];
  const others: number[] = [];
  const nameOf = (index: number): string => entry.occupancy.pods[index]?.pod.name ?? '';
  for (const index of leaving) (charge(account, budgets, index, nameOf) ? violators : others).push(index);
  for (const index of leaving) clear(account, budgets, index);
  return { violators, others };
}

/**
 * Charges a pod to its budgets; true if one is violated. Indexes stay within the lists, which the types cannot tell.
 */
function charge(
  { allowed, disrupted, used }: BudgetAccount,
  budgets: BudgetSlots,
  index: number,
  nameOf: NameOf,
): boolean {
  const end = budgets.starts[index + 1] as number;
  let isBroken = false;
  for (let at = budgets.starts[index] as number; at < end; at += 1) {
    const slot = budgets.slots[at] as number;
    if (disrupted[slot]?.has(nameOf(index)) === true) continue;
    const count = (used[slot] as number) + 1;
    used[slot] = count;
    isBroken ||= count > (allowed[slot] as number);
  }
  return isBroken;
}

/** Not all at once: a cluster may have many more budgets than one node. */
function clear({ used }: BudgetAccount, { slots, starts }: BudgetSlots, index: number): void {
  const end = starts[index + 1] as number;
  for (let at = starts[index] as number; at < end; at += 1) used[slots[at] as number] = 0;
}

/** A requirement of a pod that no filter of this model covers. */
interface UnmodelledNeed {
  readonly kind: 'Volume' | 'ResourceClaim' | 'ExtendedResource';
  /** Name of the volume or claim in the pod, or of the resource. */
  readonly name: string;
}

/** Volumes that no plugin of kube-scheduler examines: they restrict neither nodes nor other pods. */
const FREE_VOLUMES: ReadonlySet<string> = new Set([
  'configMap',
  'downwardAPI',
  'emptyDir',
  'gitRepo',
  'hostPath',
  'image',
  'nfs',
  'projected',
  'secret',
]);
const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

/**
 * What the pod needs beyond the model: volumes that are attached or bound to places, dynamic resource claims, and
 * resources that no node advertises, which a DeviceClass may back. Only kube-scheduler knows whether such a pod fits on
 * a node, and which pods have to be preempted for it. Empty for a pod that the model covers completely.
 * `pkg/scheduler/framework/plugins`: nodevolumelimits, volumebinding, volumerestrictions, volumezone, dynamicresources.
 */
export function unmodelledNeeds(pod: Pod, { columns }: Pick<ClusterSnapshot, 'columns'>): readonly UnmodelledNeed[] {
  const requested = Array.from(scheduledAmounts(podRequests(pod)), ([name, amount]) => (amount > 0 ? name : ''));
  return [
    ...unmodelledStorage(pod),
    ...requested
      .filter((name) => isOfDevices(name) && !columns.indexes.has(name))
      .map((name) => ({ kind: 'ExtendedResource' as const, name })),
  ];
}

/** The same for a pod that requests no resource without a column. */
export function unmodelledStorage({ spec: { resourceClaims, volumes } }: Pod): readonly UnmodelledNeed[] {
  return [
    ...volumes.filter(isUnmodelledVolume).map(({ name }) => ({ kind: 'Volume' as const, name })),
    ...resourceClaims.map((name) => ({ kind: 'ResourceClaim' as const, name })),
  ];
}

/** Whether only kube-scheduler knows on which nodes the volume can be. */
export function isUnmodelledVolume({ source }: Pick<Volume, 'source'>): boolean {
  return !FREE_VOLUMES.has(source);
}

function isOfDevices(resource: string): boolean {
  return resource.startsWith(DEVICE_CLASS_PREFIX) || isExtendedResource(resource);
}
