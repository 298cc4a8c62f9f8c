import type { Dashboard } from './dashboard.ts';

const CLUSTER = 'cluster=~"$cluster"';

/** Evictions and preemptions in the whole cluster. */
export const EVICTIONS_DASHBOARD: Dashboard = {
  uid: 'plimsoll-evictions',
  title: 'Plimsoll / Evictions and preemptions',
  description:
    'Which pods are removed, by which signal, with which outcome; and what the extender changes in preemptions.',
  variables: [],
  panels: [
    {
      title: 'Evictions in the last hour',
      description: 'Pods that agents evicted, and those that they would have evicted.',
      type: 'stat',
      unit: 'short',
      queries: [
        {
          expr: `sum by (mode) (increase(plimsoll_evictions_total{${CLUSTER},result=~"evicted|pretended"}[1h]))`,
          legend: '{{mode}}',
        },
      ],
    },
    {
      title: 'Evicted pods that do not end',
      description: 'They hold their resources although their grace period is over.',
      type: 'stat',
      unit: 'short',
      warnAbove: 1,
      queries: [{ expr: `sum(plimsoll_evictions_stuck{${CLUSTER}})`, legend: 'stuck' }],
    },
    {
      title: 'Evictions by signal',
      description: 'Which resource was short.',
      type: 'timeseries',
      unit: 'short',
      queries: [
        {
          expr: `sum by (eviction_signal, mode) (increase(plimsoll_evictions_total{${CLUSTER}}[$__rate_interval]))`,
          legend: '{{eviction_signal}} {{mode}}',
        },
      ],
    },
    {
      title: 'Evictions by outcome',
      description: 'tooManyRequests is a PodDisruptionBudget that allows none at the moment.',
      type: 'timeseries',
      unit: 'short',
      queries: [
        {
          expr: `sum by (result) (increase(plimsoll_evictions_total{${CLUSTER}}[$__rate_interval]))`,
          legend: '{{result}}',
        },
      ],
    },
    {
      title: 'Nodes with most evictions',
      description: 'In the selected time. A node that comes back again and again has too little room for its pods.',
      type: 'table',
      unit: 'short',
      queries: [
        {
          expr: `sort_desc(topk(20, sum by (node) (increase(plimsoll_evictions_total{${CLUSTER},mode="enforce",result="evicted"}[$__range]))))`,
          legend: '{{node}}',
        },
      ],
    },
    {
      title: 'Age of the data behind an eviction',
      description: '99 of 100 evictions were based on a measurement of this age or younger.',
      type: 'timeseries',
      unit: 's',
      queries: [
        {
          expr: `histogram_quantile(0.99, sum by (eviction_signal, le) (rate(plimsoll_eviction_stats_age_seconds_bucket{${CLUSTER}}[$__rate_interval])))`,
          legend: '{{eviction_signal}}',
        },
      ],
    },
    {
      title: 'Nodes proposed for preemption',
      description:
        'kept: as kube-scheduler proposed; changed: with fewer victims; removed: protected pods are in the way.',
      type: 'timeseries',
      unit: 'short',
      queries: [
        {
          expr: `sum by (verdict) (increase(plimsoll_extender_nodes_total{${CLUSTER}}[$__rate_interval]))`,
          legend: '{{verdict}}',
        },
      ],
    },
    {
      title: 'Evictions held back',
      description: 'Nodes that are short of a resource while the agent evicts nothing, by reason.',
      type: 'timeseries',
      unit: 'short',
      queries: [{ expr: `sum by (reason) (plimsoll_evictions_held{${CLUSTER}})`, legend: '{{reason}}' }],
    },
    {
      title: 'Preempted pods',
      description:
        'Breached: a PodDisruptionBudget of the pod had nothing left. loop: proposals that would continue a loop of two owners.',
      type: 'timeseries',
      unit: 'short',
      queries: [
        {
          // Each replica of the extender counts all.
          expr: `max by (budget) (increase(plimsoll_extender_preempted_pods_total{${CLUSTER}}[$__rate_interval]))`,
          legend: '{{budget}}',
        },
        {
          expr: `sum by (mode) (increase(plimsoll_extender_preemption_loops_total{${CLUSTER}}[$__rate_interval]))`,
          legend: 'loop {{mode}}',
        },
      ],
    },
    {
      title: 'Pods refused by the kubelet',
      description: 'A scheduler bound them to a node whose room was taken, for example by another scheduler.',
      type: 'timeseries',
      unit: 'short',
      queries: [
        {
          expr: `max by (reason) (increase(plimsoll_extender_refused_pods_total{${CLUSTER}}[$__rate_interval]))`,
          legend: '{{reason}}',
        },
      ],
    },
  ],
};
