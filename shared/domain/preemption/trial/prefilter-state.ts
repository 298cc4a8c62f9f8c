import { finish, type Steps } from '#shared/domain/model/steps.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { areExact } from '#shared/domain/snapshot/node-sheet.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { openAccount, type BudgetAccount } from './budget-account.ts';
import type { PodAwareFilter, NodeFilter } from '#shared/domain/preemption/filters/filter.ts';
import { interPodAffinity } from '#shared/domain/preemption/filters/inter-pod-affinity.ts';
import { nodeAffinity } from '#shared/domain/preemption/filters/node-affinity.ts';
import { nodeName } from '#shared/domain/preemption/filters/node-name.ts';
import { nodePorts } from '#shared/domain/preemption/filters/node-ports.ts';
import { nodeResourcesFit } from '#shared/domain/preemption/filters/node-resources-fit.ts';
import { nodeUnschedulable } from '#shared/domain/preemption/filters/node-unschedulable.ts';
import { podTopologySpread } from '#shared/domain/preemption/filters/pod-topology-spread.ts';
import { needsOf, type Need } from '#shared/domain/preemption/filters/room.ts';
import { taintToleration } from '#shared/domain/preemption/filters/taint-toleration.ts';

/** All filters made ready for one incoming pod on one snapshot; stale as soon as the snapshot changes. */
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
  /** Nothing but resources depends on who else is on a node, all of them known and the needs exact in doubles. */
  readonly isResourcesOnly: boolean;
}

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
    nodeFilters: [nodeUnschedulable(pod), nodeName(pod), taintToleration(pod), nodeAffinity(pod)],
    podAwareFilters,
    isResourcesOnly: podAwareFilters.length === 1 && needs.every(isPlain),
  };
}

/** `prefilterInSteps`, all at once. */
export function prefilter(snapshot: ClusterSnapshot, pod: Pod): PrefilterState {
  return finish(prefilterInSteps(snapshot, pod));
}

function isPlain({ amount, column }: Need): boolean {
  return column >= 0 && areExact([amount]);
}
