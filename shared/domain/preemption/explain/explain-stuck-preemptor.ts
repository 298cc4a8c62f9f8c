import type { Because } from '#shared/domain/base/because.ts';
import { type Instant, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { refusalOn } from '#shared/domain/placement/trial/examine-nodes.ts';
import { type PrefilterState, unmodelledNeeds } from '#shared/domain/placement/trial/prefilter-state.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';

/** How long after its victims' grace periods a preemptor may take to be placed before it counts as overdue. */
const PLACEMENT_MARGIN_MS = 30_000;

/**
 * Why a pod with a nominated node is not placed there although the grace periods of its victims and the margin are
 * over: a victim hangs, a pod of higher priority arrived, or another pod took the room. `undefined` if it is not
 * overdue or has no nominated node. Mechanism S1-24.
 */
export function explainStuckPreemptor(
  state: PrefilterState,
  now: Instant,
  marginMs = PLACEMENT_MARGIN_MS,
): Because | undefined {
  const { pod, snapshot } = state;
  const entry = snapshot.nodes.get(pod.status.nominatedNodeName ?? '');
  if (entry === undefined || isBound(pod)) return undefined;
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

/**
 * Pods that hold room on one of the nodes: those nominated to it with at least the pod's priority, which kube-scheduler
 * counts as placed (`RunFilterPluginsWithNominatedPods`), and those that are terminating, with the end of their grace
 * period.
 */
export function explainHeldRoom(
  state: PrefilterState,
  nodes: readonly string[],
  { now, nominatedSince = () => undefined }: HeldRoomFacts,
): readonly Because[] {
  return nodes.flatMap((name) => {
    const entry = state.snapshot.nodes.get(name);
    return entry === undefined ? [] : [...nominatedTo(entry, state, nominatedSince), ...leaving(entry, now)];
  });
}

/** Facts that are not in the snapshot. */
interface HeldRoomFacts {
  readonly now: Instant;
  /** The latest time at which the pod was nominated, if known; RFC 3339. */
  readonly nominatedSince?: (pod: Pod) => string | undefined;
}

/** Requirements of the pod that no filter of the model covers: with any, it is unknown whether the pod fits. */
export function explainUnmodelledNeeds({ pod, snapshot }: PrefilterState): readonly Because[] {
  const needs = unmodelledNeeds(pod, snapshot).map(({ kind, name }) => `${kind} ${name}`);
  if (needs.length === 0) return [];
  const names = needs.join(', ');
  const text = `not known whether it fits: only kube-scheduler checks ${names}`;
  return [{ code: 'OutsideTheModel', text, facts: { needs: names } }];
}

function nominatedTo(
  { node, occupancy }: NodeEntry,
  state: PrefilterState,
  nominatedSince: (pod: Pod) => string | undefined,
): readonly Because[] {
  const others = occupancy.nominated.filter(
    ({ pod, priority }) => priority >= state.priority && podKey(pod) !== podKey(state.pod),
  );
  return others.map((each) => {
    const time = nominatedSince(each.pod);
    const facts = { node: node.name, pod: nameOf(each), priority: each.priority, since: time ?? '' };
    const since = time === undefined ? '' : `, since ${time} at the latest`;
    const text = `pod ${facts.pod} (priority ${facts.priority}) is nominated to ${facts.node} and holds room there${since}`;
    return { code: 'RoomHeld', text, facts };
  });
}

function leaving({ node, occupancy }: NodeEntry, now: Instant): readonly Because[] {
  return occupancy.pods.flatMap((each) => {
    const { deletion } = each.pod;
    if (deletion === undefined) return [];
    const end = Math.max(0, Math.ceil((deletion.at - now) / 1_000));
    const facts = { node: node.name, pod: nameOf(each), endsInSeconds: end };
    const when = end === 0 ? 'its grace period is over' : `its grace period ends in ${end} s`;
    const text = `pod ${facts.pod} on ${facts.node} is terminating; ${when}`;
    return [{ code: 'Terminating', text, facts }];
  });
}
