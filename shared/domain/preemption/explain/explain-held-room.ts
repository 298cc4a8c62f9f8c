import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import { unmodelledNeeds } from '#shared/domain/preemption/trial/unmodelled-needs.ts';

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

/** What the snapshot does not hold. */
export interface HeldRoomFacts {
  readonly now: Instant;
  /** Since when a pod is nominated at the latest, where that is known; an RFC 3339 time. */
  readonly nominatedSince?: (pod: Pod) => string | undefined;
}

/** What the pod needs that no filter of the model knows: with it, a fit on a node is not known. */
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

function nameOf({ pod }: PlacedPod): string {
  return `${pod.namespace}/${pod.name}`;
}
