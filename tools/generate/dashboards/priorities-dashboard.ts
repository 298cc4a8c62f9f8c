import type { Dashboard } from './dashboard.ts';

const CLUSTER = 'cluster=~"$cluster"';

/** Priorities and quotas: what is used, what is refused, and how fast the webhook answers. */
export const PRIORITIES_DASHBOARD: Dashboard = {
  uid: 'plimsoll-priorities',
  title: 'Plimsoll / Priorities and quotas',
  description: 'Usage of each PriorityQuota, refusals by reason, and the health of the webhook.',
  variables: [{ name: 'quota', label: 'PriorityQuota', metric: 'plimsoll_quota_hard' }],
  panels: [
    {
      title: 'Quotas',
      description: 'Used share of each quota and resource.',
      type: 'table',
      unit: 'percentunit',
      warnAbove: 0.9,
      isWide: true,
      queries: [
        {
          expr: `sort_desc(max by (quota, resource) (plimsoll_quota_used{${CLUSTER},quota=~"$quota"}) / max by (quota, resource) (plimsoll_quota_hard{${CLUSTER},quota=~"$quota"} > 0))`,
          legend: '{{quota}} {{resource}}',
        },
      ],
    },
    {
      title: 'Used share over time',
      description: 'A quota at 100 % refuses pods that need more.',
      type: 'timeseries',
      unit: 'percentunit',
      warnAbove: 0.9,
      queries: [
        {
          expr: `max by (quota, resource) (plimsoll_quota_used{${CLUSTER},quota=~"$quota"}) / max by (quota, resource) (plimsoll_quota_hard{${CLUSTER},quota=~"$quota"} > 0)`,
          legend: '{{quota}} {{resource}}',
        },
      ],
    },
    {
      title: 'Cores used by priority class',
      description:
        'Mean usage of the pods of each priority class; the sum over time is plimsoll_priority_resource_seconds_total.',
      type: 'timeseries',
      unit: 'short',
      queries: [
        {
          expr: `sum by (priority_class) (rate(plimsoll_priority_resource_seconds_total{${CLUSTER},resource="cpu"}[$__rate_interval]))`,
          legend: '{{priority_class}}',
        },
      ],
    },
    {
      title: 'Memory used by namespace',
      description: 'Mean usage of the pods of each namespace, the largest fifteen.',
      type: 'timeseries',
      unit: 'bytes',
      queries: [
        {
          expr: `topk(15, sum by (namespace) (rate(plimsoll_priority_resource_seconds_total{${CLUSTER},resource="memory"}[$__rate_interval])))`,
          legend: '{{namespace}}',
        },
      ],
    },
    {
      title: 'Decisions by reason',
      description: 'Answers of the webhook each second.',
      type: 'timeseries',
      unit: 'reqps',
      queries: [
        {
          expr: `topk(15, sum by (webhook, reason) (rate(plimsoll_webhook_decisions_total{${CLUSTER}}[$__rate_interval])))`,
          legend: '{{webhook}} {{reason}}',
        },
      ],
    },
    {
      title: 'Time to answer',
      description: '50 and 99 of 100 requests are answered within this time.',
      type: 'timeseries',
      unit: 's',
      warnAbove: 0.5,
      queries: [0.5, 0.99].map((quantile) => ({
        expr: `histogram_quantile(${quantile}, sum by (webhook, le) (rate(plimsoll_webhook_request_duration_seconds_bucket{${CLUSTER}}[$__rate_interval])))`,
        legend: `{{webhook}} p${quantile * 100}`,
      })),
    },
    {
      title: 'Requests by HTTP status',
      description: '429 is overload, 5xx a fault of the webhook.',
      type: 'timeseries',
      unit: 'reqps',
      queries: [
        {
          expr: `sum by (code) (rate(plimsoll_webhook_requests_total{${CLUSTER}}[$__rate_interval]))`,
          legend: '{{code}}',
        },
      ],
    },
    {
      title: 'Charges and recounts',
      description: 'Charges by a write of the ledger or from a slice, and recounts by result.',
      type: 'timeseries',
      unit: 'ops',
      queries: [
        {
          expr: `sum by (path) (rate(plimsoll_quota_charges_total{${CLUSTER}}[$__rate_interval]))`,
          legend: 'charge: {{path}}',
        },
        {
          expr: `sum by (result) (rate(plimsoll_quota_recounts_total{${CLUSTER}}[$__rate_interval]))`,
          legend: 'recount: {{result}}',
        },
      ],
    },
    {
      title: 'Rules behind the policies',
      description: 'For how long the API server has enforced rules other than those of the PriorityPolicies.',
      type: 'timeseries',
      unit: 's',
      warnAbove: 60,
      queries: [{ expr: `max(plimsoll_priority_rules_behind_seconds{${CLUSTER}})`, legend: 'behind' }],
    },
    {
      title: 'Certificates',
      description: 'Time until each certificate expires.',
      type: 'stat',
      unit: 's',
      queries: [
        {
          expr: `min by (purpose) (plimsoll_certificate_not_after_timestamp_seconds{${CLUSTER}}) - time()`,
          legend: '{{purpose}}',
        },
      ],
    },
  ],
};
