import type { Because } from '#shared/domain/model/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { LeavingPods } from '#shared/domain/preemption/trial/leaving-pods.ts';
import { type NodeVerdict, type ProposalRules, type ProposedVictims, takenAway } from './proposal.ts';

/** For whom, and by which rules, a node is reviewed. */
interface Reviewing {
  readonly pod: Pod;
  readonly priority: number;
  readonly rules: ProposalRules;
}

/**
 * The verdict on a node where leaving pods free enough. Those of lower priority that are terminating are named as the
 * victims: kube-scheduler deletes no pod a second time, but it nominates the node, so pods of lower priority cannot take
 * the room as it becomes free (S0-29, example 4). Where there are none, the node is taken away.
 * `pkg/scheduler/framework/preemption/executor.go` prepareCandidateAsync.
 */
export function waitForRoom(
  reviewing: Reviewing,
  entry: NodeEntry,
  leaving: LeavingPods,
  proposed: ProposedVictims,
): NodeVerdict {
  const { node } = proposed;
  const { pods } = sheetOf(entry);
  const uids = leaving.flatMap((index) => {
    const placed = pods[index] as PlacedPod;
    return isNameable(placed, reviewing) ? [placed.pod.uid] : [];
  });
  if (uids.length === 0) return takenAway(node, roomSoon(node));
  const isProposed = uids.length === proposed.uids.length && uids.every((uid) => proposed.uids.includes(uid));
  if (isProposed) return { kind: 'kept', victims: proposed };
  return { kind: 'changed', victims: { node, uids, budgetViolations: 0 }, because: roomSoon(node) };
}

/** Protected pods are not named: kube-scheduler may not have seen yet that they are terminating. */
function isNameable({ pod, priority }: PlacedPod, { pod: preemptor, priority: most, rules }: Reviewing): boolean {
  return pod.deletion !== undefined && priority < most && rules.protection(pod, preemptor) === undefined;
}

/** Why no pod has to be preempted on a node. */
export function roomSoon(node: string): Because {
  return { code: 'RoomSoon', text: `terminating pods on ${node} already free enough`, facts: { node } };
}
