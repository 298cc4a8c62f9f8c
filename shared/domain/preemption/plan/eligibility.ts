import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { isPreempted } from '#shared/domain/pod/preempted-pod.ts';
import type { Examined } from '#shared/domain/preemption/trial/examine-nodes.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';

/** Why a pod may not preempt at all. */
export interface IneligibleReason {
  readonly code: 'neverPreempts' | 'victimsStillTerminating';
  /** Kubernetes' text. */
  readonly text: string;
}

const NEVER: IneligibleReason = { code: 'neverPreempts', text: 'not eligible due to preemptionPolicy=Never.' };

const TERMINATING: IneligibleReason = {
  code: 'victimsStillTerminating',
  text: 'not eligible due to a terminating pod on the nominated node.',
};

/**
 * Why the pod may not preempt, if so: its policy, or earlier victims that are still leaving its nominated
 * node, unless removing pods from that node cannot help. `plugins/defaultpreemption/default_preemption.go` PodEligibleToPreemptOthers.
 */
export function ineligibleReason(state: PrefilterState, examined: readonly Examined[]): IneligibleReason | undefined {
  if (state.pod.spec.preemptionPolicy === 'Never') return NEVER;
  const name = state.pod.status.nominatedNodeName ?? '';
  const nominated = name === '' ? undefined : examined.find(({ entry }) => entry.node.name === name);
  if (nominated?.refusal?.isResolvable !== true) return undefined;
  return nominated.entry.occupancy.pods.some((placed) => isLeavingFor(placed, state)) ? TERMINATING : undefined;
}

function isLeavingFor({ pod, priority }: PlacedPod, state: PrefilterState): boolean {
  return priority < state.priority && pod.deletion !== undefined && isPreempted(pod);
}
