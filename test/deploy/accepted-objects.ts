import {
  DISRUPTION_LIMITS,
  DISRUPTION_POLICIES,
  NODE_PRESSURE_POLICIES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  QUEUES,
  RESCHEDULING_POLICIES,
  type Resource,
} from '#shared/kube/resource.ts';

/** Specs that the API server takes, by kind. */
export const ACCEPTED: readonly (readonly [Resource, object])[] = [
  [PRIORITY_POLICIES, {}],
  [
    PRIORITY_POLICIES,
    {
      namespaceSelector: { matchLabels: { team: 'a' } },
      subjects: [
        { kind: 'Group', name: 'dev' },
        { kind: 'ServiceAccount', name: 'ci', namespace: 'build' },
      ],
      allowedPriorityClassNames: ['high-never', 'standard'],
      defaultPriorityClassName: 'standard',
      preemption: 'Never',
      substitutePriorityClassNames: { high: 'high-never' },
      requireQuotaFor: ['high-never'],
      onViolation: 'Warn',
    },
  ],
  [PRIORITY_QUOTAS, { priorityClassNames: ['critical'], hard: { 'requests.memory': '1Gi', pods: 10 } }],
  [PRIORITY_QUOTAS, { priority: { min: -5, max: -5 }, hard: { 'limits.cpu': '500m' } }],
  [
    DISRUPTION_LIMITS,
    {
      selector: { matchLabels: { app: 'web' } },
      limits: [
        { max: 2, window: '1h' },
        { max: '10%', window: '90s' },
      ],
      minAvailable: '80%',
      shares: [{ component: 'Agent', percent: 50 }],
    },
  ],
  [
    DISRUPTION_POLICIES,
    {
      forbiddingBudgets: 'Deny',
      defaults: [{ priority: { max: 99 }, limits: [{ max: '50%', window: '1h' }] }],
      retention: { period: '720h', perNamespace: 50, total: 5_000 },
    },
  ],
  [QUEUES, {}],
  [
    QUEUES,
    {
      parent: 'tenants',
      weight: 3,
      guaranteed: { cpu: '1500m' },
      max: { cpu: 2, 'nvidia.com/gpu': 1 },
      preemption: { policy: 'Fence', delay: 'soon', preferNear: true },
      ordering: 'Strict',
      namespaceSelector: {},
    },
  ],
  [NODE_PRESSURE_POLICIES, {}],
  [
    NODE_PRESSURE_POLICIES,
    {
      nodeSelector: { matchExpressions: [{ key: 'pool', operator: 'In', values: ['batch'] }] },
      mode: 'Enforce',
      evictionHard: { 'memory.available': '250Mi' },
      evictionSoft: { 'memory.available': '5%' },
      evictionSoftGracePeriod: { 'memory.available': '30s' },
      pressure: [{ signal: 'memory.pressure', avg10: '20%', avg60: '10%', whileAvailableBelow: '10%' }],
      cpu: { mode: 'Enforce', available: '5%', gracePeriod: '60s' },
      ranking: { keys: ['priority', 'shareOfRequest'], daemonSets: 'Rank' },
      budgets: { severe: 'Respect' },
      protect: { namespaces: ['ingress'], optOutCeiling: 1000, withinRequest: true },
    },
  ],
  [RESCHEDULING_POLICIES, {}],
  [
    RESCHEDULING_POLICIES,
    {
      nodeSelector: { matchLabels: { pool: 'shared' } },
      mode: 'Enforce',
      schedule: { period: '10m', windows: [{ days: ['Saturday'], start: '22:00', end: '04:00' }] },
      underused: { by: 'Usage', low: { cpu: 40 }, target: { cpu: 65, memory: 80 }, gain: '0.5' },
      affinity: { required: true, preferred: true, spread: true },
      badService: { restarts: 50, oomKills: 3, refused: 2, stalls: 60, move: 'Aggressor' },
      aggressiveness: 'High',
      fitElsewhere: false,
    },
  ],
];
