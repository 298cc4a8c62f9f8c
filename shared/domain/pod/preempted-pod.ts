import type { Pod } from './pod.ts';

/**
 * Whether a scheduler marked the pod as a victim of preemption. The first DisruptionTarget condition counts.
 * `plugins/defaultpreemption/default_preemption.go` podTerminatingByPreemption.
 */
export function isPreempted({ status }: Pick<Pod, 'status'>): boolean {
  const target = status.conditions.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === 'PreemptionByScheduler';
}
