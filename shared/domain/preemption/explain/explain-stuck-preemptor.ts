import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { refusalOn } from '#shared/domain/preemption/trial/fits-node.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';

/** How long after its victims' grace periods a preemptor may take to be placed before that needs a reason. */
export const PLACEMENT_MARGIN_MS = 30_000;

/**
 * Why a pod with a nominated node is not placed there although the grace periods of its victims and the margin are over:
 * a victim hangs, a pod of higher priority came, or another pod took the room. `undefined` where it is not overdue or
 * has no nominated node. Mechanism S1-24.
 */
export function explainStuckPreemptor(
  state: PrefilterState,
  now: Instant,
  marginMs = PLACEMENT_MARGIN_MS,
): Because | undefined {
  const { pod, snapshot } = state;
  const entry = snapshot.nodes.get(pod.status.nominatedNodeName ?? '');
  if (entry === undefined || (pod.spec.nodeName ?? '') !== '') return undefined;
  const leaving = entry.occupancy.pods.filter((placed) => isLeaving(placed, state.priority));
  if (leaving.length > 0) return hangingVictim(leaving, entry, now - marginMs);
  const refusal = refusalOn(state, entry);
  return refusal === undefined ? undefined : takenRoom(state, entry, refusal.reasons.join(', '));
}

function isLeaving({ pod, priority }: PlacedPod, below: number): boolean {
  return pod.deletion !== undefined && priority < below;
}

/** `deletionTimestamp` is the end of the grace period. */
function hangingVictim(leaving: readonly PlacedPod[], { node }: NodeEntry, before: Instant): Because | undefined {
  const endOf = ({ pod }: PlacedPod): Instant => pod.deletion?.at ?? Infinity;
  const [first] = leaving.toSorted((a, b) => endOf(a) - endOf(b));
  if (first === undefined || endOf(first) > before) return undefined;
  const facts = { node: node.name, pod: nameOf(first) };
  const text =
    `pod ${facts.pod} on ${facts.node} is still terminating although its grace period is over; ` +
    'look for finalizers on it, and whether the kubelet of the node answers';
  return { code: 'VictimHangs', text, facts };
}

function takenRoom(state: PrefilterState, { node, occupancy }: NodeEntry, reason: string): Because {
  const { pod, priority } = state;
  const others = [...occupancy.pods, ...occupancy.nominated].filter((each) => each.pod.uid !== pod.uid);
  const higher = others.find((each) => each.priority > priority && cameAfter(each, state));
  if (higher !== undefined) return taken('HigherPodCame', higher, node.name, 'of higher priority came');
  const other = others.find((each) => each.pod.deletion === undefined && cameAfter(each, state));
  if (other !== undefined) return taken('RoomTaken', other, node.name, 'took the room');
  const text = `${node.name} still refuses the pod although its victims are gone: ${reason}`;
  return { code: 'StillRefused', text, facts: { node: node.name } };
}

function cameAfter({ pod }: PlacedPod, state: PrefilterState): boolean {
  return (pod.createdAt ?? -Infinity) > (state.pod.createdAt ?? Infinity);
}

function taken(code: string, placed: PlacedPod, node: string, what: string): Because {
  const facts = { node, pod: nameOf(placed), priority: placed.priority };
  return {
    code,
    text: `the victims are gone, but pod ${facts.pod} (priority ${facts.priority}) ${what} on ${node}`,
    facts,
  };
}

function nameOf({ pod }: PlacedPod): string {
  return `${pod.namespace}/${pod.name}`;
}
