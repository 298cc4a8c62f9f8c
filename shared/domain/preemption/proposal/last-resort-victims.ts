import { isLastResort } from '#shared/domain/eviction/last-resort.ts';
import { isDaemonSetPod } from '#shared/domain/pod/pod-owner.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { OPTED_OUT } from '#shared/domain/preemption/victims/preemption-protection.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import type { MayTake } from '#shared/domain/preemption/victims/victims-on-node.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { ProposalRules } from './proposal.ts';

/**
 * Which pods of a node a DaemonSet's pod may take as the last resort: also those that opted out, but no others that are
 * protected. `undefined` for other preemptors, and where the node holds other pods. Mechanism S2-29.
 */
export function lastResortVictims(
  { pod: preemptor, snapshot }: Pick<PrefilterState, 'pod' | 'snapshot'>,
  { occupancy }: NodeEntry,
  { protection }: ProposalRules,
): MayTake | undefined {
  const isOfDaemonSet = (pod: Pod): boolean => isDaemonSetPod(pod, snapshot.daemonSets);
  const optedOut = (pod: Pod): boolean => protection(pod, preemptor)?.code === OPTED_OUT;
  const pods = occupancy.pods.map(({ pod }) => pod);
  if (!isOfDaemonSet(preemptor) || !isLastResort(pods, { optedOut, isDaemonSetPod: isOfDaemonSet })) return undefined;
  return (pod) => optedOut(pod) || protection(pod, preemptor) === undefined;
}
