import type { Steps } from '#shared/domain/model/steps.ts';
import { type IncomingPod, whySetAside } from '#shared/domain/preemption/set-aside/set-aside-room.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import { type NodeVerdict, takenAway } from './proposal.ts';

/** Takes a node away where `filter` would keep the pod from the room: the victims would be removed for nothing. */
export function withinFreeRoom(snapshot: ClusterSnapshot, incoming: IncomingPod, verdict: NodeVerdict): NodeVerdict {
  if (verdict.kind === 'takenAway' || !snapshot.nominatedNodes.has(verdict.victims.node)) return verdict;
  const { node, uids } = verdict.victims;
  const entry = snapshot.nodes.get(node);
  if (entry === undefined) return verdict;
  const known = sheetOf(entry).uids;
  const victims = uids.map((uid) => known.indexOf(uid)).filter((index) => index >= 0);
  const because = whySetAside(snapshot, entry, incoming, victims);
  return because === undefined ? verdict : takenAway(node, because);
}

/** The same of all nodes of a proposal. */
export function* leaveSetAside(
  snapshot: ClusterSnapshot,
  incoming: IncomingPod,
  verdicts: readonly NodeVerdict[],
): Steps<readonly NodeVerdict[]> {
  const left: NodeVerdict[] = [];
  for (const verdict of verdicts) {
    const reviewed = withinFreeRoom(snapshot, incoming, verdict);
    left.push(reviewed);
    if (verdict.kind !== 'takenAway' && snapshot.nominatedNodes.has(verdict.victims.node)) yield;
  }
  return left;
}
