import type { CounterMetric, GaugeMetric, Metrics } from '#shared/runtime/metrics.ts';

/** Metrics of the node controller. */
export interface NodeMetrics {
  readonly leader: GaugeMetric;
  readonly writes: CounterMetric;
  readonly taintedNodes: GaugeMetric;
  readonly heldBackNodes: GaugeMetric;
  readonly contestedNodes: GaugeMetric;
  readonly avoidEntries: GaugeMetric;
  readonly loops: CounterMetric;
}

export function createNodeMetrics(metrics: Metrics): NodeMetrics {
  const all = {
    leader: metrics.gauge('plimsoll_scheduler_leader', 'Whether this replica writes to nodes (1) or not (0)'),
    writes: metrics.counter('plimsoll_scheduler_node_writes_total', 'Writes to nodes and avoid lists by outcome', [
      'object',
      'outcome',
    ]),
    taintedNodes: metrics.gauge('plimsoll_scheduler_tainted_nodes', 'Nodes with a pressure taint'),
    heldBackNodes: metrics.gauge(
      'plimsoll_scheduler_held_back_nodes',
      'Nodes under pressure without a taint, because enough others have one',
    ),
    contestedNodes: metrics.gauge(
      'plimsoll_scheduler_contested_nodes',
      'Nodes on which another controller undoes the same taint or condition again and again',
    ),
    avoidEntries: metrics.gauge('plimsoll_scheduler_avoid_entries', 'Owners that are kept away from a node'),
    loops: metrics.counter('plimsoll_scheduler_eviction_loops_total', 'Loops of eviction and return that were broken'),
  };
  all.leader.set(0);
  return all;
}
