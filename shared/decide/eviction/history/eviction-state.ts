import { HOUR_MS, MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { Mode } from '#shared/api/node-pressure-policy/policy.ts';
import type { EvictionLimits } from '#shared/domain/eviction/eviction-limits.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { type InflightEviction, type Severity, type Termination, isExpected, type Pace } from './inflight-eviction.ts';

/** A pause for a pod, or all pods of an owner, a namespace or a window, after an attempt to evict failed. */
export interface Pause {
  readonly since: Instant;
  readonly until: Instant;
  readonly attempts: number;
  readonly because: Because;
  /** How long it lasts at least in the severe stage, where others are cut short. */
  readonly severeMs?: Instant;
}

/** The evictions of one mode and their outcomes. */
export interface EvictionState {
  readonly inflight: readonly InflightEviction[];
  readonly past: readonly PastEviction[];
  /** By UID of a pod, by owner as `namespace/Kind/name`, or by `namespaceKey` or `windowKey`. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /** No attempt before this time, because the API server or a budget has just refused one. */
  readonly nextAttemptAt: Instant;
  /** When the last attempt was answered. */
  readonly answeredAt: Instant;
  /** Attempts in a row that the API server left without a clear answer. */
  readonly failures: number;
  /** The pod whose eviction failed last and left it unharmed. */
  readonly failedUid: string | undefined;
  /** Evictions of pods of other projects' controllers that their webhooks denied within the last minute. */
  readonly denials: readonly Denial[];
}

/** One denial; a project denies all its pods alike, and may answer each request with a migration. */
interface Denial {
  readonly at: Instant;
  /** Kind of the pod's controller. */
  readonly kind: string;
}

/** Kinds of Kubernetes itself, whose pods have nothing else in common. */
const BUILT_IN = ['ReplicaSet', 'ReplicationController', 'StatefulSet', 'DaemonSet', 'Job', 'Node'];
/** Further pods of the kind wait for a minute after so many denials. */
const MAX_DENIALS = 3;

/** The denials of the last minute with one more; `owner` as `namespace/Kind/name`. */
export function withDenial(denials: readonly Denial[], owner: string | undefined, now: Instant): readonly Denial[] {
  const recent = denials.filter(({ at }) => now - at < MINUTE_MS);
  const kind = kindOf(owner);
  return kind === undefined ? recent : [...recent, { at: now, kind }];
}

/** Why a pod of this owner is not asked for now: others of the kind were denied again and again. */
export function deniedAlike({ denials }: EvictionState, owner: string | undefined, now: Instant): Because | undefined {
  if (denials.length < MAX_DENIALS) return undefined;
  const kind = kindOf(owner);
  const count = denials.filter((each) => each.kind === kind && now - each.at < MINUTE_MS).length;
  return kind === undefined || count < MAX_DENIALS ? undefined : REASONS.deniedAlike({ kind, count }, { kind, count });
}

function kindOf(owner: string | undefined): string | undefined {
  const kind = owner?.split('/')[1];
  return kind === undefined || BUILT_IN.includes(kind) ? undefined : kind;
}

/** In the severe stage no pause between attempts is longer than this, whatever its cause. */
export const SEVERE_PAUSE_MS = 1000;
/** How long a pod that was refused in the severe stage comes after pods that were not tried yet. */
export const SEVERE_TURN_MS = 3000;
/** How long a pod that was refused counts as one that stays, although it is asked again sooner: a period of the kubelet. */
export const SEVERE_HOLD_MS = 10_000;

/** How long a pause lasts at most in this stage. */
export function longestPause(stage: Severity): Instant {
  return stage === 'severe' ? SEVERE_PAUSE_MS : Infinity;
}

/** The pause under this key if it lasts. */
export function activePause(
  key: string,
  { pauses }: EvictionState,
  { now, longestMs }: { readonly now: Instant; readonly longestMs: Instant },
): Pause | undefined {
  const pause = pauses.get(key);
  if (pause === undefined) return undefined;
  return now < Math.min(pause.until, pause.since + Math.max(longestMs, pause.severeMs ?? 0)) ? pause : undefined;
}

/** The key of the pods of a namespace; no UID and no owner has this form. */
export function namespaceKey(namespace: string): string {
  return `${namespace}/`;
}

/** The key of all evictions for a resource. */
export function windowKey(resource: StarvedResource): string {
  return `/${resource}`;
}

/** Evictions by mode: an enforced one never depends on a dry-run one. */
export type EvictionsByMode = Readonly<Record<Mode, EvictionState>>;

const NOTHING_DONE: EvictionState = {
  inflight: [],
  past: [],
  pauses: new Map(),
  nextAttemptAt: 0,
  answeredAt: 0,
  failures: 0,
  failedUid: undefined,
  denials: [],
};

export const NO_EVICTIONS: EvictionsByMode = { Enforce: NOTHING_DONE, DryRun: NOTHING_DONE };

/** The evictions that a decision in a mode considers: Enforce only enforced ones, DryRun both. */
export function evictionsFor(mode: Mode, { Enforce: real, DryRun: pretended }: EvictionsByMode): EvictionState {
  if (mode === 'Enforce') return real;
  return {
    inflight: [...real.inflight, ...pretended.inflight],
    past: [...real.past, ...pretended.past],
    pauses: new Map([...real.pauses, ...pretended.pauses]),
    nextAttemptAt: Math.max(real.nextAttemptAt, pretended.nextAttemptAt),
    answeredAt: Math.max(real.answeredAt, pretended.answeredAt),
    failures: pretended.failures,
    denials: [...real.denials, ...pretended.denials],
    failedUid: pretended.failedUid,
  };
}

/** `evictions` with those of one mode replaced. */
export function withEvictions(
  evictions: EvictionsByMode,
  mode: Mode,
  change: (state: EvictionState) => EvictionState,
): EvictionsByMode {
  return { ...evictions, [mode]: change(evictions[mode]) };
}

/** One requested eviction, for the sliding windows and for ranking other pods of its owner later. */
export interface PastEviction {
  readonly at: Instant;
  readonly uid: string;
  readonly namespace: string;
  /** As `namespace/Kind/name`. */
  readonly owner: string | undefined;
  /** What was short. */
  readonly resource: StarvedResource;
}

const TEN_MINUTES_MS = 600_000;
/** Drops evictions that no window covers any more. */
export function recentEvictions(past: readonly PastEviction[], now: Instant): readonly PastEviction[] {
  return past.filter(({ at }) => now - at < HOUR_MS);
}

/** Evictions for one resource: those for another do not count in its windows. */
export function evictionsOf(past: readonly PastEviction[], resource: StarvedResource): readonly PastEviction[] {
  return past.filter((each) => each.resource === resource);
}

function countWithin(past: readonly PastEviction[], windowMs: number, now: Instant): number {
  return past.filter(({ at }) => now - at < windowMs).length;
}

/** How many more evictions the node's windows allow now; never negative. */
export function freeSlotsOnNode(past: readonly PastEviction[], limits: EvictionLimits, now: Instant): number {
  const minute = limits.perMinute - countWithin(past, MINUTE_MS, now);
  const tenMinutes = limits.perTenMinutes - countWithin(past, TEN_MINUTES_MS, now);
  return Math.max(0, Math.min(minute, tenMinutes));
}

/** How many pods of each namespace were evicted within its window. */
export function lostByNamespace(past: readonly PastEviction[], now: Instant): ReadonlyMap<string, number> {
  const lost = new Map<string, number>();
  for (const { at, namespace } of past)
    if (now - at < TEN_MINUTES_MS) lost.set(namespace, (lost.get(namespace) ?? 0) + 1);
  return lost;
}

/** Why a namespace with `count` evicted or chosen pods must not lose another one; `undefined` if it may. */
export function namespaceLimit(namespace: string, count: number, limits: EvictionLimits): Because | undefined {
  const most = limits.perNamespacePerTenMinutes;
  const facts = { namespace, count, most };
  return count < most ? undefined : REASONS.namespaceLimit(facts, facts);
}

/** When a pod of the same owner was last evicted from this node. */
export function ownerDisruptedAt(past: readonly PastEviction[], owner: string | undefined): Instant | undefined {
  return owner === undefined ? undefined : past.findLast((each) => each.owner === owner)?.at;
}

/**
 * A terminating pod, whatever deleted it: when it began, its grace period, and whether its memory is already falling.
 */
export interface TerminatingPod extends Termination {
  /** Highest usage since it last fell. */
  readonly usedBytes: number | undefined;
  readonly fellAt: Instant | undefined;
}

/** Terminating pods by UID. */
export type TerminatingPods = ReadonlyMap<string, TerminatingPod>;

const DEFAULT_GRACE_SECONDS = 30;
/** Smaller changes are normal for a working set. */
const FALL_SHARE = 0.05;
/** A pod whose memory last fell longer ago is no longer falling. */
const FALLING_MS = 3000;

/** Updates the terminating pods. The first grace period counts, since the kubelet does not shorten a termination. */
export function updateTerminatingPods(
  previous: TerminatingPods,
  terminating: readonly Pod[],
  usage: UsageByUid,
  now: Instant,
): TerminatingPods {
  if (terminating.length === 0 && previous.size === 0) return previous;
  return new Map(terminating.map((pod) => [pod.uid, noteOne(previous.get(pod.uid), pod, usage, now)]));
}

function noteOne(previous: TerminatingPod | undefined, pod: Pod, usage: UsageByUid, now: Instant): TerminatingPod {
  const { since, graceMs } = previous ?? { since: now, graceMs: graceOf(pod) };
  return { since, graceMs, ...noteFall(previous, usage.get(pod.uid)?.memory?.workingSetBytes, now) };
}

function graceOf({ deletion }: Pod): Instant {
  return (deletion?.gracePeriodSeconds ?? DEFAULT_GRACE_SECONDS) * 1000;
}

type Fall = Pick<TerminatingPod, 'usedBytes' | 'fellAt'>;

function noteFall(previous: Fall | undefined, usedBytes: number | undefined, now: Instant): Fall {
  const before = previous?.usedBytes;
  const fellAt = previous?.fellAt;
  if (usedBytes === undefined) return { usedBytes: before, fellAt };
  if (before !== undefined && usedBytes <= before * (1 - FALL_SHARE)) return { usedBytes, fellAt: now };
  return { usedBytes: Math.max(before ?? 0, usedBytes), fellAt };
}

/** Whether its memory fell a moment ago. */
export function isFalling(pod: TerminatingPod | undefined, now: Instant): boolean {
  return pod?.fellAt !== undefined && now - pod.fellAt <= FALLING_MS;
}

/**
 * Whether its usage counts as freed: in the severe stage only if it terminates within seconds or its memory is falling.
 */
export function countsAsFreed(pod: TerminatingPod, pace: Pace, now: Instant): boolean {
  return isExpected(pod, pace, now) || (pace !== 'mild' && isFalling(pod, now));
}
