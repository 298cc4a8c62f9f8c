import { type FilteredNodes, filterNodes, type Placement, whyAvoided } from '#shared/domain/avoidance/avoid-nodes.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Verb } from './extender-listener.ts';
import { decodeNodeArgs, encodeFilterResult, encodeScores, type NodeArgs } from './node-args.ts';
import type { WhyUndecided } from './why-undecided.ts';

export interface NodeVerbOptions {
  readonly snapshot: Pick<ClusterSnapshot, 'pressures'>;
  readonly whyUndecided: WhyUndecided;
  readonly clock: Pick<Clock, 'now'>;
  readonly metrics: Metrics;
}

/** The highest score that an extender may give (`MaxExtenderPriority`). */
const HIGHEST_SCORE = 10;

/** The verb `filter`: leaves out nodes on which the pod should not be placed. */
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
    const isOpen = (node: string): boolean => !isUndecided && whyAvoided(node, placement) === undefined;
    return { ok: true, value: encodeScores(args.value.nodes, (node) => (isOpen(node) ? HIGHEST_SCORE : 0)) };
  };
}

function filter(options: NodeVerbOptions, args: NodeArgs, isOverloaded: boolean): FilteredNodes {
  if (options.whyUndecided('filter', isOverloaded) !== undefined) return { left: args.nodes, leftOut: new Map() };
  return filterNodes(args.nodes, placementOf(options, args));
}

function placementOf({ snapshot, clock }: NodeVerbOptions, { owner }: NodeArgs): Placement {
  return { owner, pressures: snapshot.pressures, now: clock.now() };
}
