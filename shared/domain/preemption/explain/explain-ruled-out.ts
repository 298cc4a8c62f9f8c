import type { Because } from '#shared/domain/model/because.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { findLowerPartner } from './find-lower-partner.ts';
import { findObstacle } from '#shared/domain/preemption/trial/find-obstacle.ts';
import { refusalOn } from '#shared/domain/preemption/trial/fits-node.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import type { Refusal } from '#shared/domain/preemption/filters/refusal.ts';
import type { RuledOutNode } from './simulate-preemption.ts';

const AFFINITY_FILTER = 'InterPodAffinity';
const OTHER_NODES_ONLY = 'the pod asks for other nodes by name';

/**
 * Why the pod does not go to a node, in a text that is the same for all nodes with the same reason: what Kubernetes says
 * of the node, then why preemption does not help.
 */
export function ruledOutReason(state: PrefilterState, ruledOut: RuledOutNode): string {
  switch (ruledOut.kind) {
    case 'refused':
      return textOf(ruledOut.refusal);
    case 'notTried':
      return `${textOf(ruledOut.refusal)}; preemption cannot help`;
    case 'noLowerPods':
      return `${textOf(refusalAt(state, ruledOut.node))}; no pod of lower priority to preempt`;
    case 'stillRefused':
      return `${textOf(ruledOut.refusal)}, even without all pods of lower priority`;
    case 'overBudget':
      return 'a disruption budget would be broken';
    case 'takenAway':
      return TAKEN_AWAY[ruledOut.because.code] ?? ruledOut.because.text;
  }
}

const TAKEN_AWAY: Readonly<Record<string, string>> = {
  RoomSoon: 'terminating pods already free enough; no pod is preempted',
  OverBudget: 'a disruption budget would be broken',
  ProtectedMirrorPod: 'the mirror of a static pod stands in the way',
  ProtectedOptOut: 'a pod that opted out of preemption stands in the way',
  ProtectedNamespace: 'a pod of a protected namespace stands in the way',
};

/**
 * The pod that keeps the incoming pod off a node, where that is a pod which preemption does not remove: one on another
 * node (S0-3, S1-21), one of lower priority that the pod wants to be with (S1-20), or a protected one.
 */
export function ruledOutBecause(state: PrefilterState, ruledOut: RuledOutNode): Because | undefined {
  const entry = state.snapshot.nodes.get(ruledOut.node);
  if (entry === undefined) return undefined;
  if (ruledOut.kind === 'takenAway') return ruledOut.because.code in TAKEN_AWAY ? ruledOut.because : undefined;
  const refusal = lastRefusal(state, ruledOut);
  if (refusal?.filter !== AFFINITY_FILTER) return undefined;
  return refusal.isResolvable ? otherNodesPod(state, entry) : lowerPartner(state, entry);
}

/** What keeps the pod off once preemption has done what it can. */
function lastRefusal(state: PrefilterState, ruledOut: RuledOutNode): Refusal | undefined {
  if (ruledOut.kind === 'noLowerPods') return refusalAt(state, ruledOut.node);
  return ruledOut.kind === 'stillRefused' || ruledOut.kind === 'refused' ? ruledOut.refusal : undefined;
}

function refusalAt(state: PrefilterState, node: string): Refusal | undefined {
  const entry = state.snapshot.nodes.get(node);
  return entry === undefined ? undefined : refusalOn(state, entry);
}

function otherNodesPod({ snapshot, pod }: PrefilterState, { node }: NodeEntry): Because | undefined {
  const obstacle = findObstacle(snapshot, pod, node);
  if (obstacle === undefined) return undefined;
  const { namespace, name, spec } = obstacle.pod;
  const facts = {
    node: node.name,
    pod: `${namespace}/${name}`,
    podNode: spec.nodeName ?? '',
    priority: obstacle.priority,
  };
  const text =
    `pod ${facts.pod} on ${facts.podNode} keeps the pod off ${node.name} by anti-affinity; ` +
    'no pod is removed from one node to make room on another';
  return { code: 'BlockedFromOtherNode', text, facts };
}

function lowerPartner(state: PrefilterState, entry: NodeEntry): Because | undefined {
  const partner = findLowerPartner(state, entry);
  if (partner === undefined) return undefined;
  const { namespace, name } = partner.pod;
  const facts = { node: entry.node.name, pod: `${namespace}/${name}`, priority: partner.priority };
  const text =
    `the pod requires affinity to pod ${facts.pod} on ${facts.node}, whose priority ${facts.priority} is lower; ` +
    'preemption takes all lower pods off a node first, and then the affinity is not met';
  return { code: 'AffinityToLowerPod', text, facts };
}

function textOf(refusal: Refusal | undefined): string {
  return refusal?.reasons.join(', ') ?? OTHER_NODES_ONLY;
}
