import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { planPreemption, type PreemptionOptions } from '#shared/domain/placement/plan/plan-preemption.ts';
import { buildNode, buildPod, type NodeFields, type PodFields } from '#test/build/cluster.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';

export interface Situation {
  readonly nodes?: readonly NodeFields[];
  readonly pods?: readonly PodFields[];
  readonly budgets?: readonly DisruptionBudget[];
  readonly options?: PreemptionOptions;
}

export const SMALL = { cpu: '2', memory: '4Gi' };
export const NODES = [{ name: 'n0', allocatable: SMALL }];

export function snapshotOf({ nodes = NODES, pods = [], budgets = [] }: Situation) {
  return createSnapshot({ nodes: nodes.map(buildNode), pods: pods.map(buildPod), budgets });
}

export function plan(pod: Partial<PodFields>, situation: Situation = {}) {
  const incoming = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '2' }, ...pod });
  return planPreemption(snapshotOf(situation), incoming, situation.options);
}

/** Victims by node, or why there are none. */
export function victims(pod: Partial<PodFields>, situation: Situation): object | string {
  const found = plan(pod, situation);
  if (found.kind !== 'preempt') return found.kind;
  return Object.fromEntries(found.candidates.map((each) => [each.node, each.victims.map((victim) => victim.pod.name)]));
}
