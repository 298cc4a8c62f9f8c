import { hasEnded, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Signal, StalledResource, StarvedResource, NodeReadings } from '#shared/domain/pressure/signal.ts';
import type { RankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { MemoryReadings } from '#shared/domain/pressure/memory-figure.ts';
import type { StallRatio } from '#shared/api/node-pressure-policy/policy.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

/** A pod that the kubelet evicted for node pressure, and the resource that the node was short of. */
export interface KubeletEviction {
  readonly uid: string;
  readonly resource: StarvedResource;
  /** When its containers ended, if that is known: wall time as it is read, monotonic in a decision. */
  readonly at?: Instant;
}

/** Every pod bound to this node, indexed once per change instead of once per pass. */
export interface PodsOnNode {
  /** Without terminated pods. */
  readonly running: readonly RankingFacts[];
  readonly aliveByUid: ReadonlyMap<string, Pod>;
  /** Deleted but not yet terminated. */
  readonly terminating: readonly Pod[];
  readonly endedByKubelet: readonly KubeletEviction[];
  /** Errors of pods that cannot be read and are therefore no candidates, one sentence each. */
  readonly unreadable: readonly string[];
  /** By UID, for pods that were not on the node when the agent started. */
  readonly cameAt: ReadonlyMap<string, Instant>;
}

/** A pod for which another source contradicts its cgroup. */
export interface DoubtfulPod {
  /** Usage according to the other source. */
  readonly theirsBytes: number;
  readonly because: Because;
}

/** By UID. */
export type DoubtfulPods = ReadonlyMap<string, DoubtfulPod>;

/** Whether a namespace has opted out (`plimsoll.dev/ignore`). */
export type NamespaceState = 'open' | 'ignored';

/** The state that the labels of a namespace select. */
export function stateByLabel(ignoreLabel: string | undefined): NamespaceState {
  return ignoreLabel === 'true' ? 'ignored' : 'open';
}

/** All inputs of one decision. Times are monotonic milliseconds. */
export interface NodeSnapshot extends ObservedNode {
  readonly now: Instant;
  readonly usage: UsageByUid;
  readonly podPressures: PodPressureByUid;
  readonly pods: PodsOnNode;
  /** Namespaces whose labels are known; pods of other namespaces are not evicted. */
  readonly namespaces: ReadonlyMap<string, NamespaceState>;
  /** Owners, as `namespace/Kind/name`, with an avoid entry for this node. */
  readonly avoided: ReadonlySet<string>;
  /** Signals that must not evict now, because their sources contradict each other. */
  readonly doubts: ReadonlyMap<Signal, Because>;
  /** Pods whose figures another source contradicts; the node's figures are not affected. */
  readonly doubtfulPods: DoubtfulPods;
  /** Whether the kubelet, which carries out evictions, has stopped posting node status. */
  readonly isKubeletSilent: boolean;
  /** Whether it posts node status and reports that it can run pods. */
  readonly isKubeletReady: boolean;
  /** Whether the kubelet reports MemoryPressure: one of its own thresholds is met, or was in the last minutes. */
  readonly hasMemoryPressure: boolean;
  /** Gates of the whole agent that are closed: warming up, no contact with the API server. */
  readonly closedGates: readonly Because[];
}

/** The pod condition that names the cause of a disruption. */
export const DISRUPTION_TARGET = 'DisruptionTarget';

/** Whether the pod is deleted and has not terminated yet. */
export function isTerminating(pod: Pod): boolean {
  return pod.deletion !== undefined && !hasEnded(pod);
}

function hasDisruption(pod: Pod, reason: string): boolean {
  return pod.status.conditions.some(
    (condition) => condition.type === DISRUPTION_TARGET && condition.status === 'True' && condition.reason === reason,
  );
}

/** Pods that are no candidates: evicted by the kubelet, or unreadable. */
export type OtherPods = Pick<PodsOnNode, 'endedByKubelet' | 'unreadable'>;

const NO_OTHERS: OtherPods = { endedByKubelet: [], unreadable: [] };

const NO_ARRIVALS: PodsOnNode['cameAt'] = new Map();

/** When each pod arrived, given the previous pods; the first pods that the agent sees have always been there. */
export function arrivals(
  { aliveByUid, cameAt }: Pick<PodsOnNode, 'aliveByUid' | 'cameAt'>,
  facts: readonly RankingFacts[],
  now: Instant,
): PodsOnNode['cameAt'] {
  if (aliveByUid.size === 0) return NO_ARRIVALS;
  const entries = facts.map(({ pod: { uid } }) => [uid, aliveByUid.has(uid) ? cameAt.get(uid) : now] as const);
  return new Map(entries.filter((entry): entry is [string, Instant] => entry[1] !== undefined));
}

/** Indexes the node's pods for decisions. */
export function indexPods(
  facts: readonly RankingFacts[],
  others: OtherPods = NO_OTHERS,
  cameAt: PodsOnNode['cameAt'] = NO_ARRIVALS,
): PodsOnNode {
  const running = facts.filter(({ pod }) => !hasEnded(pod));
  return {
    running,
    aliveByUid: new Map(running.map(({ pod }) => [pod.uid, pod])),
    terminating: running.map(({ pod }) => pod).filter(isTerminating),
    cameAt,
    ...others,
  };
}

/** Whether the pod terminates because of the Eviction API. */
export function isBeingEvicted(pod: Pod): boolean {
  return isTerminating(pod) && hasDisruption(pod, 'EvictionByEvictionAPI');
}

/** The node as observed in one pass; times are monotonic milliseconds. */
export interface ObservedNode {
  /** Memory as the kubelet computes it. */
  readonly readings: NodeReadings;
  /** Memory that processes can still allocate; empty if the source does not report it. */
  readonly reclaimable: MemoryReadings;
  readonly stalls: readonly StallRatio[];
  readonly cpu: CpuRoom | undefined;
  readonly reclaim: ReclaimRates;
  /** Since boot; grows if the kernel's OOM killer was faster. */
  readonly oomKills: number | undefined;
}

/** CPU idle over the last minute and the capacity, in cores. */
export interface CpuRoom {
  readonly availableCores: number;
  readonly cores: number;
  /** Idle over the last two seconds; `undefined` if the source does not tell. */
  readonly idleNow?: number | undefined;
}

/**
 * The kernel's reclaim activity in bytes per second over the last ten seconds; `undefined` if the kernel does not count
 * it.
 */
export interface ReclaimRates {
  /** Scanned because the node is short of memory; reclaim of a cgroup at its own limit does not count. */
  readonly scanned: number | undefined;
  /** Reclaimed of the scanned bytes. */
  readonly stolen: number | undefined;
  /** Read in again soon after they were evicted; cgroups at their own limit count as well. */
  readonly refaulted: number | undefined;
  readonly swappedIn: number | undefined;
}

export const NO_RECLAIM_RATES: ReclaimRates = {
  scanned: undefined,
  stolen: undefined,
  refaulted: undefined,
  swappedIn: undefined,
};

/**
 * The pressure of one pod over the last slow interval. It is reported, and it distinguishes a pod at its own limit from
 * a node that is short. It never ranks pods, because the pod that took the memory does not stall. Values that were not
 * measured are `undefined`.
 */
export interface PodPressure {
  /** Share of time in which some of its tasks stalled, from 0 to 1. */
  readonly waiting: ResourceShares;
  /** Share of time in which all of its tasks stalled. */
  readonly stalled: ResourceShares;
  /** How often its memory hit its own limit (`memory.max` or `memory.high`) since it was created, and recently. */
  readonly limitHits?: number | undefined;
  readonly limitHitsPerSecond?: number | undefined;
  /** Processes that the kernel killed in it since it was created; cgroup v1 counts them per container only. */
  readonly oomKills?: number | undefined;
  /** Share of time in which it was throttled by its own CPU limit. */
  readonly throttled?: number | undefined;
}

/** Shares of time by resource, from 0 to 1. */
export type ResourceShares = Readonly<Partial<Record<StalledResource, number | undefined>>>;

/** Pressure by pod UID. */
export type PodPressureByUid = ReadonlyMap<string, PodPressure>;

export const NO_POD_PRESSURES: PodPressureByUid = new Map();

/** Throttling for a smaller share of the time is normal below a limit. */
const LEAST_THROTTLED = 0.1;

/** Whether its memory has recently hit its own limit. */
export function isAtMemoryLimit({ limitHitsPerSecond }: PodPressure): boolean {
  return limitHitsPerSecond !== undefined && limitHitsPerSecond > 0;
}

/** Whether its own CPU limit throttles it. */
export function isAtCpuLimit({ throttled }: PodPressure): boolean {
  return throttled !== undefined && throttled >= LEAST_THROTTLED;
}

/**
 * Pods are measured at least every ten seconds: after this long without a measurement no source has their statistics.
 */
const MAX_UNMEASURED_MS = 30_000;

/** What one pass found out about the pods. */
export type ObservedPods = Pick<NodeSnapshot, 'pods' | 'usage' | 'now'>;

function isRunning({ pod }: RankingFacts): boolean {
  return pod.status.phase === 'Running';
}

/** Since when no running pod of the node has had statistics; `undefined` while one has them, or no pod runs. */
export function advanceUnmeasured(
  previous: Instant | undefined,
  { pods, usage, now }: ObservedPods,
): Instant | undefined {
  const isAnyMeasured = usage.size > 0 && pods.running.some(({ pod }) => usage.has(pod.uid));
  return isAnyMeasured || !pods.running.some(isRunning) ? undefined : (previous ?? now);
}

/** The reason when pods run and none has statistics: none can be ranked or evicted. */
export function noStatistics(
  since: Instant | undefined,
  { pods, now }: Pick<ObservedPods, 'pods' | 'now'>,
): Because | undefined {
  if (since === undefined || now - since < MAX_UNMEASURED_MS) return undefined;
  const count = pods.running.filter(isRunning).length;
  const seconds = Math.round((now - since) / 1000);
  return REASONS.noPodStatistics({ pods: count, seconds }, { pods: count, seconds });
}

/** State of the process that decides whether it may act. Times are monotonic milliseconds. */
export interface AgentReadiness {
  readonly nowMs: number;
  readonly startedAtMs: number;
  readonly warmUpMs: number;
  readonly arePodsSynced: boolean;
  /** Whether the policies of the cluster have been read. */
  readonly arePoliciesRead: boolean;
  /** Whether the evictions of a previous process on this node have been read. */
  readonly isHistoryKnown: boolean;
  /** When the API server last answered a request or sent something on a watch. */
  readonly lastContactMs: number | undefined;
}

/** After a longer silence the watched pods may be outdated. A watch reopens after 90 s in which it received nothing. */
const MAX_SILENCE_MS = 120_000;

/** Whether the API server has been silent for too long; not before the first contact. */
export function isSilent(nowMs: number, lastContactMs: number | undefined): boolean {
  return lastContactMs !== undefined && nowMs - lastContactMs > MAX_SILENCE_MS;
}

/** Reasons to observe without acting. */
export function readinessGates(process: AgentReadiness): readonly Because[] {
  const { nowMs, startedAtMs, warmUpMs, lastContactMs = nowMs } = process;
  const left = { seconds: Math.ceil((startedAtMs + warmUpMs - nowMs) / 1000) };
  const silent = { seconds: Math.round((nowMs - lastContactMs) / 1000) };
  const gates = [
    left.seconds > 0 && REASONS.warmingUp(left, left),
    !process.arePodsSynced && REASONS.podsUnknown({}),
    !process.arePoliciesRead && REASONS.policiesUnknown({}),
    !process.isHistoryKnown && REASONS.historyUnknown({}),
    isSilent(nowMs, lastContactMs) && REASONS.apiServerSilent(silent, silent),
  ];
  return gates.filter((each) => each !== false);
}
