import type { Because } from '#shared/domain/model/because.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { sheetOf } from '#shared/domain/snapshot/node-sheet.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { prefilter, type PrefilterState } from './prefilter-state.ts';
import { openTrial, refusalIn, takeOff } from './trial.ts';
import { victimsOnNode } from './victims-on-node.ts';

/** What kube-scheduler would remove from one node. */
export interface ProposedVictims {
  readonly node: string;
  /** UIDs of at least one pod. */
  readonly uids: readonly string[];
  /** How many of them a disruption budget would keep. */
  readonly budgetViolations: number;
}

export interface ProposalRules {
  /** Why `preemptor` may not take `victim`; `undefined` where it may. */
  readonly protection: (victim: Pod, preemptor: Pod) => Because | undefined;
  /** `Hard` takes away nodes on which a disruption budget would be broken. */
  readonly budgets: 'BestEffort' | 'Hard';
}

/** What becomes of one node of a proposal. */
export type NodeVerdict =
  | { readonly kind: 'kept'; readonly victims: ProposedVictims }
  | { readonly kind: 'changed'; readonly victims: ProposedVictims; readonly because: Because }
  | { readonly kind: 'takenAway'; readonly node: string; readonly because: Because };

/**
 * Reviews the nodes on which kube-scheduler could make room for a pod by preemption, and the victims on each. Nodes on
 * which no protected pod would go stay as they are; on others the same room is made by pods that may go, where that is
 * possible. Nodes where pods that are terminating make room anyway are taken away. No list of victims is ever empty, and none holds
 * a pod that the snapshot does not know. Design source mechanisms S0-4, S0-9, S0-10.
 */
export function reviewProposal(
  snapshot: ClusterSnapshot,
  pod: Pod,
  proposal: readonly ProposedVictims[],
  rules: ProposalRules,
): readonly NodeVerdict[] {
  const state = prefilter(snapshot, pod);
  return proposal.map((proposed) => reviewNode(state, proposed, rules));
}

function reviewNode(state: PrefilterState, proposed: ProposedVictims, rules: ProposalRules): NodeVerdict {
  const { node } = proposed;
  const entry = state.snapshot.nodes.get(node);
  const victims = proposed.uids.map((uid) => state.snapshot.placedPods.get(uid));
  const areKnown = victims.length > 0 && victims.every((victim) => victim !== undefined);
  if (entry === undefined || !areKnown) return unknown(proposed);
  if (hasRoomSoon(state, entry)) return takenAway(node, roomSoon(node));
  const guarded = firstProtection(victims, state.pod, rules);
  if (guarded !== undefined) return withoutProtected(state, entry, { rules, guarded });
  return rules.budgets === 'Hard' && proposed.budgetViolations > 0
    ? takenAway(node, overBudget(node, proposed.budgetViolations))
    : { kind: 'kept', victims: proposed };
}

interface Guarded {
  readonly rules: ProposalRules;
  readonly guarded: Because;
}

function withoutProtected(state: PrefilterState, entry: NodeEntry, { rules, guarded }: Guarded): NodeVerdict {
  const { name } = entry.node;
  const found = victimsOnNode(state, entry, (pod) => rules.protection(pod, state.pod) === undefined);
  if (found.kind !== 'candidate' || found.victims.length === 0) return takenAway(name, guarded);
  const { budgetViolations } = found;
  if (rules.budgets === 'Hard' && budgetViolations > 0) return takenAway(name, overBudget(name, budgetViolations));
  const uids = found.victims.map(({ pod }) => pod.uid);
  return { kind: 'changed', victims: { node: name, uids, budgetViolations }, because: guarded };
}

/** Whether the pod fits once the pods that are terminating have gone. */
function hasRoomSoon(state: PrefilterState, entry: NodeEntry): boolean {
  const { terminating } = sheetOf(entry);
  if (terminating.length === 0) return false;
  const trial = openTrial(state, entry);
  takeOff(trial, terminating);
  return refusalIn(trial) === undefined;
}

function firstProtection(
  victims: readonly PlacedPod[],
  preemptor: Pod,
  { protection }: ProposalRules,
): Because | undefined {
  for (const { pod } of victims) {
    const because = protection(pod, preemptor);
    if (because !== undefined) return because;
  }
  return undefined;
}

function takenAway(node: string, because: Because): NodeVerdict {
  return { kind: 'takenAway', node, because };
}

function unknown({ node, uids }: ProposedVictims): NodeVerdict {
  const text = `not all of the ${uids.length} victims on ${node} are known here yet`;
  return takenAway(node, { code: 'UnknownVictims', text, facts: { node, victims: uids.length } });
}

function roomSoon(node: string): Because {
  return { code: 'RoomSoon', text: `terminating pods on ${node} already free enough`, facts: { node } };
}

function overBudget(node: string, budgetViolations: number): Because {
  const text = `on ${node} ${budgetViolations} victims are kept by a disruption budget`;
  return { code: 'OverBudget', text, facts: { node, budgetViolations } };
}
