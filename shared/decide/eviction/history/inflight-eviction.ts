import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { ThresholdSignal, Signal } from '#shared/domain/pressure/signal.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Mode } from '#shared/api/node-pressure-policy/policy.ts';
import { figureFor } from '#shared/decide/eviction/snapshot/deciding-figures.ts';

/** `severe`: a hard threshold is met. */
export type Severity = 'mild' | 'severe';

/** The signal that was short, and what was available of it. */
export interface Shortfall {
  readonly signal: ThresholdSignal;
  readonly available: number;
}

/**
 * One eviction that this agent requested, in this process or before a restart.
 *
 *     asking ── accepted ──▶ ending ── pod gone ──▶ (closed)
 *       │                      └── too long ──▶ stuck ── pod gone ──▶ (closed)
 *       ├── no clear answer ──▶ unknown ── read again ──▶ ending or (closed)
 *       └── refused ──▶ (closed, the pod is paused)
 *     pretended: a dry run; the pod stays and counts as freed for a while
 */
export interface InflightEviction {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** As `namespace/Kind/name`, so that its other pods rank later for a while. */
  readonly owner: string | undefined;
  readonly signal: Signal;
  readonly stage: Severity;
  readonly mode: Mode;
  readonly phase: 'asking' | 'unknown' | 'ending' | 'stuck' | 'pretended';
  readonly requestedAt: Instant;
  readonly graceSeconds: number;
  /** What the eviction should free, in the signal's unit. */
  readonly expected: number;
  /** What was short at the request; `undefined` if the signal has no amount. */
  readonly shortage: Shortfall | undefined;
  /** Total usage of all other pods at the request, in the signal's unit. */
  readonly othersUsed: number;
  /** When the pod began to use next to nothing; its object may stay after that, forever if it has a finalizer. */
  readonly releasedAt: Instant | undefined;
  /** Whether it was requested again with the shortest grace period; its times stay those of the first request. */
  readonly isShortened: boolean;
}

/** How much time there is for a victim to terminate; `lastChance`: memory is gone before a second one could follow. */
export type Pace = Severity | 'lastChance';

/**
 * Time after the grace period for cleaning up volumes and containers. In the last chance, a process that survives
 * SIGKILL must not keep the agent from the pod that uses the memory (docs/contributing/decisions/within-request.md).
 */
const CLEAN_UP_MS: Readonly<Record<Pace, Instant>> = { mild: 10_000, severe: 5000, lastChance: 2000 };
/** The longest wait for a pod, however long its grace period. */
const MAX_WAIT_MS = 600_000;
/** A dry run reports the same pod at most this often. */
const DRY_RUN_MS = 300_000;
/** In the severe stage only pods that terminate within this time count. */
const SOON_MS = 3000;
/** A pod that uses less than this share of its former usage has released it. */
const RELEASED_SHARE = 0.1;
/** A measurement of the pod from before the request proves nothing. */
const LEAST_AGE_MS = 1000;

/**
 * Whether a pod asked to terminate at `since` still counts as freed: during its grace period and the time to clean up.
 */
export function isExpected({ since, graceMs }: Termination, pace: Pace, now: Instant): boolean {
  const dueMs = Math.min(graceMs + CLEAN_UP_MS[pace], MAX_WAIT_MS);
  const isInTime = now - since <= dueMs;
  return pace === 'mild' ? isInTime : isInTime && now - since >= graceMs - SOON_MS;
}

/** When a pod began to terminate, and its grace period. */
export interface Termination {
  readonly since: Instant;
  readonly graceMs: number;
}

function terminationOf({ requestedAt, graceSeconds }: InflightEviction): Termination {
  return { since: requestedAt, graceMs: graceSeconds * 1000 };
}

/** Whether its pod counts as freed: requested recently enough, and not stuck. */
export function isExpectedToEnd(eviction: InflightEviction, pace: Pace, now: Instant): boolean {
  if (eviction.releasedAt !== undefined || eviction.phase === 'stuck') return false;
  return eviction.phase === 'pretended' || isExpected(terminationOf(eviction), pace, now);
}

/**
 * Whether it occupies one of the policy's slots for concurrent evictions. In the severe stage an eviction that will
 * take long occupies none, even while it is requested again: terminating pods never block that stage.
 */
export function isOutstanding(eviction: InflightEviction, pace: Pace, now: Instant): boolean {
  const isInTime = pace === 'mild' || isExpected(terminationOf(eviction), pace, now);
  switch (eviction.phase) {
    case 'asking':
    case 'unknown':
      return isInTime || !eviction.isShortened;
    case 'ending':
      return isInTime && eviction.releasedAt === undefined;
    case 'stuck':
      return false;
    case 'pretended':
      return isExpected(terminationOf(eviction), 'mild', now);
  }
}

/** Whether its answer is unknown, so that no window counts it yet; a second request was counted with the first. */
export function isUncounted({ phase, isShortened }: InflightEviction): boolean {
  return !isShortened && (phase === 'asking' || phase === 'unknown');
}

/**
 * Whether requesting it again with the shortest grace period may help. The kubelet of Kubernetes 1.36 does not shorten
 * a termination that has begun, so no decision relies on it (test/cluster/node/shorter-grace.test.ts).
 */
export function canBeShortened(eviction: InflightEviction, now: Instant): boolean {
  const { phase, graceSeconds, isShortened, releasedAt } = eviction;
  if (phase !== 'ending' || isShortened || releasedAt !== undefined) return false;
  return graceSeconds * 1000 > SOON_MS && !isExpected(terminationOf(eviction), 'severe', now);
}

/** The evictions after one more pass. */
export interface Reconciled {
  readonly inflight: readonly InflightEviction[];
  /** Evictions whose pod is gone, or uses next to nothing, since the last pass. */
  readonly released: readonly InflightEviction[];
}

/** What evictions are compared with: the node's non-terminated pods by UID, and their usage. */
export interface SeenPods {
  readonly alive: ReadonlyMap<string, Pod>;
  readonly usage: UsageByUid;
}

/** Closes evictions whose pod is gone and marks those whose pod released its resources or takes too long. */
export function reconcileInflight(evictions: readonly InflightEviction[], seen: SeenPods, now: Instant): Reconciled {
  const gone = evictions.filter((each) => isGone(each, seen.alive));
  const left = evictions.filter((each) => !isGone(each, seen.alive));
  const inflight = left.map((each) => markReleased(each, seen.usage, now)).flatMap((each) => age(each, now));
  const justReleased = inflight.filter(({ releasedAt }) => releasedAt === now);
  return { inflight, released: [...gone.filter(({ releasedAt }) => releasedAt === undefined), ...justReleased] };
}

function isGone({ phase, uid }: InflightEviction, alive: ReadonlyMap<string, Pod>): boolean {
  // A request without an answer may still arrive: only its outcome closes it.
  return phase !== 'asking' && !alive.has(uid);
}

function markReleased(eviction: InflightEviction, usage: UsageByUid, now: Instant): InflightEviction {
  const isTerminating = eviction.phase === 'ending' || eviction.phase === 'stuck';
  if (!isTerminating || eviction.releasedAt !== undefined || !hasReleased(eviction, usage, now)) return eviction;
  return { ...eviction, phase: 'ending', releasedAt: now };
}

/** A pod whose cgroup is gone while others are measured has released everything. */
function hasReleased(
  { uid, signal, expected, requestedAt }: InflightEviction,
  usage: UsageByUid,
  now: Instant,
): boolean {
  if (now - requestedAt < LEAST_AGE_MS || expected <= 0 || usage.size === 0) return false;
  const measured = usage.get(uid);
  if (measured === undefined) return true;
  const used = figureFor(signal, measured);
  return used !== undefined && isMeasuredSince(measured.memory?.at, requestedAt) && used <= expected * RELEASED_SHARE;
}

function isMeasuredSince(at: Instant | undefined, requestedAt: Instant): boolean {
  return at === undefined || at - requestedAt >= LEAST_AGE_MS;
}

function age(eviction: InflightEviction, now: Instant): readonly InflightEviction[] {
  if (!isOver(eviction, now)) return [eviction];
  if (eviction.phase === 'pretended') return [];
  const isStuck = eviction.phase === 'ending' && eviction.releasedAt === undefined;
  return isStuck ? [{ ...eviction, phase: 'stuck' }] : [eviction];
}

function isOver({ phase, stage, requestedAt, graceSeconds }: InflightEviction, now: Instant): boolean {
  const usualMs = Math.min(graceSeconds * 1000 + CLEAN_UP_MS[stage], MAX_WAIT_MS);
  return now - requestedAt > (phase === 'pretended' ? DRY_RUN_MS : usualMs);
}
