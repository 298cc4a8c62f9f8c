import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';
import type { Pod } from '#shared/domain/model/pod.ts';
import type { Examined } from './examine-nodes.ts';
import type { Screening } from './screening.ts';

/** Why a pod may not preempt at all. */
export interface Bar {
  readonly code: 'neverPreempts' | 'victimsStillTerminating';
  /** Kubernetes' text. */
  readonly text: string;
}

const NEVER: Bar = { code: 'neverPreempts', text: 'not eligible due to preemptionPolicy=Never.' };

const TERMINATING: Bar = {
  code: 'victimsStillTerminating',
  text: 'not eligible due to a terminating pod on the nominated node.',
};

/**
 * What bars the pod from preemption, if anything: its policy, or earlier victims that are still leaving its nominated
 * node, unless that node is beyond help. `plugins/defaultpreemption/default_preemption.go` PodEligibleToPreemptOthers.
 */
export function barToPreemption(screening: Screening, examined: readonly Examined[]): Bar | undefined {
  if (screening.pod.spec.preemptionPolicy === 'Never') return NEVER;
  const name = screening.pod.status.nominatedNodeName ?? '';
  const nominated = name === '' ? undefined : examined.find(({ entry }) => entry.node.name === name);
  if (nominated?.refusal?.mayBeHelped !== true) return undefined;
  return nominated.entry.occupancy.pods.some((placed) => isLeavingFor(placed, screening)) ? TERMINATING : undefined;
}

function isLeavingFor({ pod, priority }: PlacedPod, screening: Screening): boolean {
  return priority < screening.priority && isTerminatingByPreemption(pod);
}

/** The first DisruptionTarget condition counts. `plugins/defaultpreemption/default_preemption.go` podTerminatingByPreemption. */
function isTerminatingByPreemption(pod: Pod): boolean {
  if (pod.deletion === undefined) return false;
  const target = pod.status.conditions.find((condition) => condition.type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === 'PreemptionByScheduler';
}
