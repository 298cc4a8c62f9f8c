import type { Dashboard } from './dashboard.ts';

const NODE = 'cluster=~"$cluster",node=~"$node"';

/** One node: its signals against their thresholds, the ranked pods, the sources. */
export const NODE_DASHBOARD: Dashboard = {
  uid: 'plimsoll-node',
  title: 'Plimsoll / Node',
  description:
    'One node: signals and thresholds, pressure, the pods to be evicted next, and whether the sources agree.',
  variables: [{ name: 'node', label: 'Node', metric: 'plimsoll_eviction_signal_available' }],
  panels: [
    {
      title: 'Memory and its threshold',
      description: 'Available memory, what processes can still allocate, and the threshold at which pods go.',
      type: 'timeseries',
      unit: 'bytes',
      isWide: true,
      queries: [
        { expr: `plimsoll_eviction_signal_available{${NODE},eviction_signal="memory.available"}`, legend: 'available' },
        {
          expr: `plimsoll_eviction_signal_reclaimable{${NODE},eviction_signal="memory.available"}`,
          legend: 'reclaimable',
        },
        { expr: `plimsoll_eviction_signal_threshold{${NODE},eviction_signal="memory.available"}`, legend: 'threshold' },
      ],
    },
    {
      title: 'Time lost to waiting',
      description: 'Share of the last 10 seconds in which some (waiting) or all (stalled) tasks waited.',
      type: 'timeseries',
      unit: 'percentunit',
      queries: [{ expr: `plimsoll_node_pressure_stall_ratio{${NODE},window="10s"}`, legend: '{{resource}} {{kind}}' }],
    },
    {
      title: 'Other signals',
      description: 'Available share of every signal but memory.',
      type: 'timeseries',
      unit: 'percentunit',
      queries: [
        {
          expr: `plimsoll_eviction_signal_available{${NODE},eviction_signal!~".*emory.available"} / plimsoll_eviction_signal_capacity{${NODE}}`,
          legend: '{{eviction_signal}}',
        },
      ],
    },
    {
      title: 'Next to be evicted',
      description: 'Place in the ranking; 1 is evicted first.',
      type: 'table',
      unit: 'short',
      queries: [{ expr: `sort(plimsoll_eviction_candidate_rank{${NODE}})`, legend: '{{namespace}}/{{pod}}' }],
    },
    {
      title: 'Usage of the first candidates',
      description: 'In the unit of the signal that they are ranked by.',
      type: 'timeseries',
      unit: 'bytes',
      queries: [{ expr: `plimsoll_eviction_candidate_usage{${NODE}}`, legend: '{{namespace}}/{{pod}}' }],
    },
    {
      title: 'Pods that wait most',
      description: 'Share of time in which some task of a pod waited; only pods under the highest pressure.',
      type: 'timeseries',
      unit: 'percentunit',
      queries: [
        {
          expr: `plimsoll_pod_pressure_stall_ratio{${NODE},kind="waiting"}`,
          legend: '{{namespace}}/{{pod}} {{resource}}',
        },
      ],
    },
    {
      title: 'Evictions',
      description: 'Attempts by outcome. Those of a dry run change nothing.',
      type: 'timeseries',
      unit: 'short',
      queries: [
        {
          expr: `sum by (result, mode) (increase(plimsoll_evictions_total{${NODE}}[$__rate_interval]))`,
          legend: '{{result}} {{mode}}',
        },
        { expr: `plimsoll_evictions_outstanding{${NODE}}`, legend: 'in flight' },
      ],
    },
    {
      title: 'Do the sources agree',
      description: '1 where another source agrees with the agent’s own figures, 0 where it contradicts them.',
      type: 'timeseries',
      unit: 'short',
      queries: [{ expr: `plimsoll_source_agrees{${NODE}}`, legend: '{{source}}' }],
    },
    {
      title: 'The agent itself',
      description: 'How late a pass starts and how long it takes, 99 of 100.',
      type: 'timeseries',
      unit: 's',
      queries: [
        {
          expr: `histogram_quantile(0.99, sum by (le) (rate(plimsoll_agent_loop_lateness_seconds_bucket{${NODE}}[$__rate_interval])))`,
          legend: 'late',
        },
        {
          expr: `histogram_quantile(0.99, sum by (le) (rate(plimsoll_agent_pass_duration_seconds_bucket{${NODE}}[$__rate_interval])))`,
          legend: 'pass',
        },
      ],
    },
  ],
};
