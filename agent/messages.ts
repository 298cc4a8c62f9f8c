import { reason } from '#shared/domain/base/because.ts';

/** What is doubtful about what the agent reads. The reasons of its decision are in shared/decide/eviction/messages.ts. */
export const DOUBTS = {
  notCompared: reason('SourcesNotComparable', () => 'no other source could be compared'),
  peerFailed: reason('SourcesNotComparable', (f: { readonly source: string } & Caused) => `${f.source}: ${f.cause}`),
  otherMachine: reason(
    'SourcesNotComparable',
    (f: { readonly source: string; readonly theirsMiB: number; readonly oursMiB: number }) =>
      `${f.source} reports ${f.theirsMiB} MiB of total memory; the agent reads ${f.oursMiB} MiB`,
  ),
  sourcesDisagree: reason(
    'SourcesDisagree',
    (f: Opinion) =>
      `${f.source} reports ${f.theirsMiB} MiB of available memory; the agent reads ${f.ownLowMiB} to ${f.ownHighMiB} MiB`,
  ),
  podsDisagree: reason(
    'PodsDisagree',
    (f: { readonly pods: number; readonly example: string }) =>
      `sources disagree about ${f.pods} pods, for example: ${f.example}`,
  ),
  statisticsDoubtful: reason(
    'StatisticsDoubtful',
    (f: Opinion) =>
      `${f.source} reports ${f.theirsMiB} MiB for the pod; its cgroup used ${f.ownLowMiB} to ${f.ownHighMiB} MiB at that time`,
  ),
  kernelUnreadable: reason(
    'KernelUnreadable',
    ({ why }: { readonly why: string }) =>
      `cannot read memory from the kernel; using the kubelet's /stats/summary: ${why}`,
  ),
  podsUnreadable: reason(
    'PodsUnreadable',
    (f: { readonly pods: number; readonly why: string }) =>
      `cannot read any of ${f.pods} running pods from the kernel; using the kubelet's /stats/summary: ${f.why}`,
  ),
  policiesOutdated: reason(
    'PoliciesOutdated',
    ({ seconds }: Readonly<Record<'seconds', number>>) =>
      `the NodePressurePolicies were last read ${seconds} s ago; what was read then stays in force`,
  ),
  policyUnreadable: reason(
    'PolicyUnreadable',
    (f: { readonly policy: string; readonly field: string } & Caused) =>
      `NodePressurePolicy "${f.policy}": ${f.field}: ${f.cause}`,
  ),
} as const;

/** Messages of the conditions of a NodePressure, where no reason above is the message. */
export const CONDITIONS = {
  notMeasured: () => 'No source measures this resource on this node',
  pressure: () => 'A threshold was crossed within the transition period',
  noPressure: () => 'No threshold was crossed within the transition period',
  heldBack: (trigger: string, why: string) => `${trigger}; ${why}`,
  sourcesAgree: () => 'No source contradicts another',
  policiesRead: (count: number) =>
    count === 0 ? 'There is no NodePressurePolicy' : `Every NodePressurePolicy can be read; there are ${count}`,
  rulesConfirmed: () => 'No threshold or pressure rule waits for confirmation',
  podsRead: () => 'Every pod of this node can be read',
  podsUnread: (first: string, more: number) => (more === 0 ? first : `${first}; and ${more} more`),
  figuresAgree: () =>
    "The kubelet's available memory and the reclaimable memory were close to each other when they were last compared",
  figuresNotCompared: () =>
    "The kubelet's available memory and the reclaimable memory have not both been read for the same time within a minute",
  podsMeasured: () => 'Pod statistics are available',
  evictionsCarriedOut: () => 'No evicted pod is stuck beyond its grace period',
  kubeletSilent: () => 'The kubelet has stopped posting node status',
} as const;

/** What is added to the reason of a candidate. */
export const OWN_LIMITS = {
  memory: (hitsPerSecond: number) => `at its own memory limit (${hitsPerSecond} hits per second)`,
  cpu: (percentOfTime: number) => `throttled by its own CPU limit ${percentOfTime} % of the time`,
} as const;

/** Notes of Events; that of an evicted pod is the kubelet's (agent/report/eviction-events.ts). */
export const EVENTS = {
  thresholdMet: (resource: string) => `Attempting to reclaim ${resource}`,
  cannotEvict: (cause: string) => `Cannot evict: ${cause}`,
  notEvicted: (why: string) => `Not evicted: ${why}`,
  cpuLimitRestored: (limit: number, why: string) => `CPU limit restored to ${limit}m: ${why}`,
  cpuLimitNotRestored: (limit: number, cause: string) => `Cannot restore the CPU limit to ${limit}m: ${cause}`,
  cpuLimitNotLowered: (cause: string) => `Cannot lower the CPU limit: ${cause}`,
  /** The kubelet's messages end in a space. */
  dryRun: (text: string) => `${text.trimEnd()} (dry run)`,
} as const;

/** What happened, in the log; details are fields. */
export const LOG = {
  started: 'Agent started',
  inventory: 'Node inventory',
  underPressure: 'Node under pressure',
  resolved: 'Node pressure resolved',
  heldBack: 'Evictions held back',
  evictionAnswered: 'Eviction answered',
  evictionPretended: 'Eviction decided (dry run)',
  kernelBack: 'Kernel readings are back',
  usingKubelet: 'Using kubelet statistics',
  statusFailed: 'NodePressure status write failed',
  podUnreadable: 'Cannot read pod',
  policyUnreadable: 'Cannot read NodePressurePolicy',
  policyChanged: 'Policy in force changed',
  cpuLimitChanged: 'CPU limit changed',
  cpuLimitKept: 'Cannot change CPU limit',
  unexpected: 'Unexpected error, continuing',
} as const;

type Caused = Readonly<Record<'cause', string>>;
interface Opinion extends Readonly<Record<'theirsMiB' | 'ownLowMiB' | 'ownHighMiB', number>> {
  readonly source: string;
}
