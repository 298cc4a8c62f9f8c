import { reason } from '#shared/domain/base/because.ts';

/** Every reason that the decision about evictions gives: its code, its text, and the facts of both; further facts are for programs. */
export const REASONS = {
  // What is short
  thresholdMet: reason(
    (f: MetThreshold) => (f.isHard ? 'HardThresholdMet' : 'SoftThresholdMet'),
    (f) =>
      `${f.signal} is ${f.available}${f.kubeletAvailable === undefined ? '' : ` (${f.kubeletAvailable} as the kubelet counts)`}, below the ${f.isHard ? 'hard' : 'soft'} threshold of ${f.needed}`,
  ),
  spareRoomNeeded: reason(
    'SpareRoomNeeded',
    (f: { readonly available: string; readonly line: string; readonly expected: string }) =>
      `memory.available is ${f.available}, below the line of ${f.line} at which lent memory is taken back: pods in spare room go first (${f.expected} may be used before they are gone)`,
  ),
  stallsWithShortage: reason(
    'StallsWithShortage',
    (f: MetStallRule) =>
      `${f.signal} (${f.share}) was ${percent(f.short)} over ${f.shortSeconds} s and ${percent(f.long)} over ${f.longSeconds} s while ${f.evidence} was ${percent(f.left)}`,
  ),
  metOnArrival: reason('MetOnArrival', (f: WaitingRule) => waits(f, 'on this node')),
  metElsewhere: reason('MetElsewhere', (f: WaitingRule & { readonly node: string }) => waits(f, `on node ${f.node}`)),

  // Why no pod is evicted now
  warmingUp: reason(
    'WarmingUp',
    ({ seconds }: Seconds) => `the agent has just started; evictions begin in ${seconds} s`,
  ),
  podsUnknown: reason('PodsUnknown', () => 'the pods of this node have not been read yet'),
  policiesUnknown: reason('PoliciesUnknown', () => 'the NodePressurePolicies have not been read yet'),
  historyUnknown: reason('HistoryUnknown', () => 'the NodePressure of this node has not been read yet'),
  apiServerSilent: reason(
    'ApiServerSilent',
    ({ seconds }: Seconds) => `no contact with the API server for ${seconds} s`,
  ),
  backoff: reason(
    'Backoff',
    ({ seconds }: Seconds) => `no eviction is confirmed by the last attempt; the next attempt is in ${seconds} s`,
  ),
  kernelActs: reason('KernelActs', () => 'the kernel has just killed a process'),
  kubeletLeads: reason(
    'KubeletLeads',
    () => 'the kubelet reports MemoryPressure by a higher threshold of its own and evicts first',
  ),
  kubeletActs: reason('KubeletActs', () => 'the kubelet has just evicted a pod from this node'),
  outstanding: reason(
    'Outstanding',
    (f: { readonly count: number; readonly concurrent: number }) =>
      `evictions in flight: ${f.count}; the limit is ${f.concurrent}`,
  ),
  nodeLimit: reason(
    'NodeLimit',
    (f: { readonly perMinute: number; readonly perTenMinutes: number }) =>
      `the node has reached its limit of ${f.perMinute} evictions per minute or ${f.perTenMinutes} per ten minutes`,
  ),
  ineffective: reason(
    'Ineffective',
    (f: Seconds & { readonly evictions: number }) =>
      `the last ${f.evictions} evictions brought no relief; evictions stop for ${f.seconds} s`,
  ),
  endsByItself: reason(
    'EndsByItself',
    (f: Seconds & { readonly count: number }) =>
      `the last ${f.count} shortages ended by themselves within ${f.seconds} s; waiting whether this one does`,
  ),
  growsWithinRequest: reason(
    'GrowsWithinRequest',
    (f: Seconds & { readonly pod: string }) =>
      `${f.pod} takes memory within its request; waiting up to ${f.seconds} s whether it gives it back`,
  ),
  awaitingRelief: reason('AwaitingRelief', () => 'waiting to measure the relief from the last eviction'),
  stuck: reason(
    'Stuck',
    (f: { readonly count: number; readonly isKubeletSilent: boolean; readonly isKubeletReady?: boolean }) =>
      `${f.count} evicted pods have not terminated within their grace period; ${kubeletText(f)}`,
  ),
  noEligiblePod: reason(
    'NoEligiblePod',
    (f: { readonly reasons: string; readonly held?: { readonly pod: string; readonly why: string } | undefined }) =>
      `no pod may be evicted now: ${f.reasons}${f.held === undefined ? '' : `; ${f.held.pod} exceeds its request and stays: ${f.held.why}`}`,
  ),
  enoughTerminating: reason('EnoughEnding', () => 'terminating pods already free enough'),
  awaitingAnswer: reason('AwaitingAnswer', () => 'waiting for the answer to an eviction request'),
  noCandidate: reason('NoCandidate', () => 'every pod of this node that can be read is terminating'),

  // Why a pod is not evicted
  namespaceUnknown: reason(
    'NamespaceUnknown',
    (f: { readonly namespace: string }) =>
      `the labels of namespace ${f.namespace} are unknown; the namespace may have opted out`,
  ),
  noStatistics: reason('NoStatistics', (f: { readonly isZero?: boolean }) =>
    f.isZero === true
      ? 'the pod runs, but its cgroup has 0 bytes: its containers run elsewhere, such as in a virtual machine (Kata)'
      : 'the pod has no statistics',
  ),
  aboveRequestHeld: reason(
    'AboveRequestHeld',
    (f: KeptPod) => `the pod keeps to its request, and ${f.pod}, which may exceed its own, stays: ${f.why}`,
  ),
  aboveRequestFirst: reason(
    'AboveRequestFirst',
    (f: { readonly pod: string }) => `the pod keeps to its request; ${f.pod}, which exceeds its own, is evicted first`,
  ),
  causeHeld: reason(
    'CauseHeld',
    (f: KeptPod) => `the pod would be evicted in place of ${f.pod}, which causes the shortage and stays: ${f.why}`,
  ),
  leftToKubelet: reason(
    'LeftToKubelet',
    (f: KeptPod) =>
      `${f.pod} causes the shortage and stays: ${f.why}; no other pod is evicted in its place, and the node is left to the kubelet`,
  ),
  goesLater: reason('GoesLater', () => 'it may be evicted, and is ranked last'),
  terminating: reason('Terminating', () => 'the pod is terminating and has not released its resources'),
  unreadable: reason('Unreadable', () => 'the pod cannot be read'),
  tooSmall: reason('TooSmall', () => 'the pod uses too little to help before the node is exhausted'),
  ownerLimit: reason(
    'OwnerLimit',
    (f: { readonly count: number; readonly owner: string; readonly most: number }) =>
      `${f.count} pods of ${f.owner} were evicted from this node within an hour; the limit is ${f.most}; the node is left to the kubelet`,
  ),
  lessThanLimitedOwner: reason(
    'LessThanLimitedOwner',
    () => 'the pod exceeds its request by less than a pod whose owner is at its limit',
  ),
  returned: reason(
    'ReturnedInVain',
    (f: { readonly pod: string }) => `the pod replaces an evicted one; ${f.pod} exceeds its request by more`,
  ),
  namespaceLimit: reason(
    'NamespaceLimit',
    (f: { readonly namespace: string; readonly count: number; readonly most: number }) =>
      `namespace ${f.namespace} lost ${f.count} pods in ten minutes; the limit is ${f.most}`,
  ),

  // What became of an attempt
  changed: reason('Changed', ({ cause }: Caused) => cause),
  refused: reason('Refused', ({ cause }: Caused) => `refused: ${cause}`),
  evictionInProgress: reason('EvictionInProgress', () => 'another program is moving it to another node'),
  deniedAlike: reason(
    'DeniedAlike',
    (f: { readonly kind: string; readonly count: number }) =>
      `webhooks of others denied ${f.count} evictions of pods of ${f.kind} within a minute`,
  ),
  failed: reason('Failed', () => 'the eviction failed and the pod is still running'),
  budgetSpent: reason('BudgetSpent', ({ cause }: Caused) => `its PodDisruptionBudget allows no eviction now: ${cause}`),

  // What is doubtful
  noPodStatistics: reason(
    'NoPodStatistics',
    (f: Seconds & { readonly pods: number }) =>
      `none of ${f.pods} running pods has had statistics for ${f.seconds} s; check the cgroup driver, the cgroup of all pods, and whether a security module denies reading it`,
  ),
  cacheCountedAsUsed: reason(
    'KubeletCountsCacheAsUsed',
    (f: FigureGap) => `${gap(f)}; it counts active page cache as used`,
  ),
  heldMemoryMissed: reason(
    'KubeletMissesHeldMemory',
    (f: FigureGap) => `${gap(f)}; it misses kernel memory, huge pages and cache that cannot be reclaimed`,
  ),
} as const;

/** Why an eviction that was decided is not sent. */
export const ABORTS = {
  noLongerEnforced: (policy: string) => `policy ${policy} no longer enforces this rule`,
  unread: (pod: string, cause: string) => `cannot read pod ${pod} again: ${cause}`,
  gone: (pod: string) => `pod ${pod} no longer exists`,
  otherUid: (pod: string, uid: string, decided: string) =>
    `pod ${pod} now has the UID ${uid}; the decision was for ${decided}`,
  terminating: (pod: string) => `pod ${pod} is already terminating`,
  nowProtected: (pod: string, why: string) => `pod ${pod} can no longer be evicted: ${why}`,
  relieved: (signal: string) => `${signal} is no longer below its threshold, or cannot be read`,
} as const;

/** A threshold or pressure rule that is not enforced yet. */
interface WaitingRule
  extends Readonly<Record<'rule' | 'policy', string>>, Readonly<Record<'generation' | 'waiting', number>> {
  /** For how long the rule must be unmet. */
  readonly seconds: number;
  /** The threshold that is in force instead. */
  readonly kept: string | undefined;
}

function waits(f: WaitingRule, where: string): string {
  const more = f.waiting === 1 ? '' : ` (and ${f.waiting - 1} more)`;
  const kept = f.kept === undefined ? '' : `; until then ${f.kept} is in force`;
  return `${f.rule}${more} was already met ${where} when policy ${f.policy} introduced it; it is reported but not enforced until it has not been met there for ${f.seconds} s, the policy is changed again, or the policy is annotated plimsoll.dev/confirmed-generation: "${f.generation}"${kept}`;
}

type Seconds = Readonly<Record<'seconds', number>>;
type KeptPod = Readonly<Record<'pod' | 'why', string>>;
type Caused = Readonly<Record<'cause', string>>;
interface MetThreshold {
  readonly signal: string;
  readonly isHard: boolean;
  readonly available: string;
  /** The kubelet's figure, where another one decided. */
  readonly kubeletAvailable: string | undefined;
  readonly needed: string;
}
type MetStallRule = Readonly<Record<'signal' | 'share' | 'evidence', string>> &
  Readonly<Record<'short' | 'shortSeconds' | 'long' | 'longSeconds' | 'left', number>>;
type FigureGap = Readonly<Record<'signal' | 'kubeletAvailable' | 'reclaimable', string>>;

function gap({ signal, kubeletAvailable, reclaimable }: FigureGap): string {
  return `${signal}: the kubelet reports ${kubeletAvailable}, but ${reclaimable} can be reclaimed`;
}

function kubeletText(f: { readonly isKubeletSilent: boolean; readonly isKubeletReady?: boolean }): string {
  if (f.isKubeletSilent) return 'the kubelet has stopped posting node status as well';
  return f.isKubeletReady === true ? 'the kubelet is ready; do containers or volumes hang?' : 'is the kubelet running?';
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 1000) / 10} %`;
}
