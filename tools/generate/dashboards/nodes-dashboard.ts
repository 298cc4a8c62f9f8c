import type { Dashboard } from './dashboard.ts';

const MEMORY = 'cluster=~"$cluster",eviction_signal="memory.available"';

/** All nodes at a glance: which is nearest to its threshold, and what its agent does. */
export const NODES_DASHBOARD: Dashboard = {
  uid: 'plimsoll-nodes',
  title: 'Plimsoll / Nodes',
  description: 'Every node with its distance from eviction, its pressure and its agent.',
  variables: [],
  panels: [
    {
      title: 'Nodes nearest to eviction',
      description:
        'Available memory above the eviction threshold, as a share of the capacity. 0 is the eviction threshold.',
      type: 'table',
      unit: 'percentunit',
      isWide: true,
      queries: [
        {
          expr: `sort(bottomk(25, (plimsoll_eviction_signal_available{${MEMORY}} - plimsoll_eviction_signal_threshold{${MEMORY}}) / plimsoll_eviction_signal_capacity{${MEMORY}}))`,
          legend: '{{node}}',
        },
      ],
    },
    {
      title: 'Nodes under memory pressure',
      description: 'Nodes on which all tasks waited for memory in more than a tenth of the last minute.',
      type: 'stat',
      unit: 'short',
      warnAbove: 1,
      queries: [
        {
          expr: 'count(plimsoll_node_pressure_stall_ratio{cluster=~"$cluster",resource="memory",kind="stalled",window="60s"} > 0.1) or vector(0)',
          legend: 'nodes',
        },
      ],
    },
    {
      title: 'Agents',
      description: 'Agents that Prometheus scrapes, and those that evict.',
      type: 'stat',
      unit: 'short',
      queries: [
        { expr: 'count(plimsoll_build_info{cluster=~"$cluster",component="agent"})', legend: 'all' },
        { expr: 'sum(plimsoll_agent_enforcing{cluster=~"$cluster"})', legend: 'enforcing' },
      ],
    },
    {
      title: 'Memory stalls, highest nodes',
      description: 'Share of the last minute in which all tasks of a node waited for memory.',
      type: 'timeseries',
      unit: 'percentunit',
      warnAbove: 0.1,
      queries: [
        {
          expr: 'topk(10, plimsoll_node_pressure_stall_ratio{cluster=~"$cluster",resource="memory",kind="stalled",window="60s"})',
          legend: '{{node}}',
        },
      ],
    },
    {
      title: 'Disk and CPU stalls, highest nodes',
      description: 'Share of the last minute in which some task of a node waited for a disk or a processor.',
      type: 'timeseries',
      unit: 'percentunit',
      queries: [
        {
          expr: 'topk(10, plimsoll_node_pressure_stall_ratio{cluster=~"$cluster",resource=~"io|cpu",kind="waiting",window="60s"})',
          legend: '{{node}} {{resource}}',
        },
      ],
    },
    {
      title: 'Evictions held back',
      description: 'Nodes that are short of a resource while the agent evicts nothing, by reason.',
      type: 'timeseries',
      unit: 'short',
      queries: [{ expr: 'sum by (reason) (plimsoll_evictions_held{cluster=~"$cluster"})', legend: '{{reason}}' }],
    },
    {
      title: 'Processes ended by the kernel',
      description: 'Processes that the kernel’s OOM killer ended. Each is a shortage that was not seen in time.',
      type: 'timeseries',
      unit: 'short',
      queries: [{ expr: 'topk(10, delta(plimsoll_node_oom_kills{cluster=~"$cluster"}[15m]) > 0)', legend: '{{node}}' }],
    },
  ],
};
