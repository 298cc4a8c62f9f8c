import { type FilteredNodes, filterNodes, type Placement, whyAvoided } from '#shared/domain/avoidance/avoid-nodes.ts';
import type { IdleFor } from '#shared/domain/preemption/set-aside/awaited-nominations.ts';
import { nodesWithNominations, setAsideNodes } from '#shared/domain/preemption/set-aside/set-aside-room.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Verb } from './extender-listener.ts';
import { decodeNodeArgs, encodeFilterResult, encodeScores, type NodeArgs } from './node-args.ts';
import type { ViewState, WhyUndecided } from './why-undecided.ts';

export interface NodeVerbOptions extends Pick<ViewState, 'isStale'> {
  readonly snapshot: ClusterSnapshot;
  readonly whyUndecided: WhyUndecided;
  readonly idleFor: IdleFor;
  readonly clock: Pick<Clock, 'now'>;
  readonly metrics: Metrics;
}

/** The highest score that an extender may give (`MaxExtenderPriority`). */
const HIGHEST_SCORE = 10;
type SetAside = ReturnType<typeof setAsideNodes>;

const NONE: SetAside = new Map();

/** The verb `filter`: leaves out nodes on which the pod should not be placed, and those where it would take set-aside room. */
export function filterVerb(options: NodeVerbOptions): Verb {
  const leftOutNodes = options.metrics.counter(
    'plimsoll_extender_forbidden_nodes_total',
    'Nodes that a pod was kept off, by reason',
    ['reason'],
  );
  return (raw, isOverloaded) => {
    const args = decodeNodeArgs(raw);
    if (!args.ok) return { ok: false, error: `cannot read ${args.field}: ${args.message}` };
    const filtered = filter(options, args.value, isOverloaded);
    for (const { because } of filtered.leftOut.values()) leftOutNodes.add({ reason: because.code });
    return { ok: true, value: encodeFilterResult(args.value, filtered) };
  };
}

/**
 * The verb `prioritize`: the highest score for each node, 0 for those on which the pod should not be placed. For a
 * configuration without `filter`, which leaves out the same nodes.
 */
export function prioritizeVerb(options: NodeVerbOptions): Verb {
  return (raw, isOverloaded) => {
    const args = decodeNodeArgs(raw);
    if (!args.ok) return { ok: false, error: `cannot read ${args.field}: ${args.message}` };
    const isUndecided = options.whyUndecided('prioritize', isOverloaded) !== undefined;
    const placement = placementOf(options, args.value);
    const kept = isUndecided ? NONE : setAside(options, args.value);
    const isOpen = (node: string): boolean =>
      !isUndecided && !kept.has(node) && whyAvoided(node, placement) === undefined;
    return { ok: true, value: encodeScores(args.value.nodes, (node) => (isOpen(node) ? HIGHEST_SCORE : 0)) };
  };
}

/** Set-aside room stays so even if no node is left: the pod waits, or preempts others itself. */
function filter(options: NodeVerbOptions, args: NodeArgs, isOverloaded: boolean): FilteredNodes {
  if (options.whyUndecided('filter', isOverloaded) !== undefined) return { left: args.nodes, leftOut: new Map() };
  const kept = setAside(options, args);
  if (kept.size === 0) return filterNodes(args.nodes, placementOf(options, args));
  const open = args.nodes.filter((node) => !kept.has(node));
  const { left, leftOut } = filterNodes(open, placementOf(options, args));
  const forbidden = Array.from(kept, ([node, because]) => [node, { isForbidden: true, because }] as const);
  return { left, leftOut: new Map([...leftOut, ...forbidden]) };
}

/** Nodes with room for other pods only. None by a stale view of the pods, nor for a pod that cannot be read. */
function setAside({ snapshot, isStale, idleFor, clock }: NodeVerbOptions, { pod, nodes }: NodeArgs): SetAside {
  const candidates = nodesWithNominations(snapshot, nodes);
  if (candidates.length === 0 || isStale()) return NONE;
  const decoded = decodePod(pod);
  return decoded.ok ? setAsideNodes(snapshot, candidates, { pod: decoded.value, now: clock.now(), idleFor }) : NONE;
}

function placementOf({ snapshot, clock }: NodeVerbOptions, { owner }: NodeArgs): Placement {
  return { owner, pressures: snapshot.pressures, now: clock.now() };
}
