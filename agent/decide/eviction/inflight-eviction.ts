import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import type { KubeletSignal, Signal } from '#shared/domain/pressure/signal.ts';
import type { UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Mode } from '#agent/policy/mode.ts';
import { figureFor } from '#agent/decide/snapshot/figure-for.ts';

/** `severe`: a hard threshold is met. */
export type Stage = 'mild' | 'severe';

/** An amount that was short: where relief will be seen, and what was left of it. */
export interface Shortfall {
  readonly signal: KubeletSignal;
  readonly available: number;
}

/**
 * One eviction that this agent asked for, by this process or before it was started again. Those of others are only pods
 * that end (ending-pods.ts).
 *
 *     asking ── accepted ──▶ ending ── pod gone ──▶ (closed)
 *       │                      └── too long ──▶ stuck ── pod gone ──▶ (closed)
 *       ├── no clear answer ──▶ unknown ── read again ──▶ ending or (closed)
 *       └── refused ──▶ (closed, the pod is left alone for a while)
 *     pretended: a dry run; the pod stays and counts as freed until the eviction is over
 */
export interface InflightEviction {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** As `namespace/Kind/name`, to spare its other pods for a while. */
  readonly owner: string | undefined;
  readonly signal: Signal;
  readonly stage: Stage;
  readonly mode: Mode;
  readonly phase: 'asking' | 'unknown' | 'ending' | 'stuck' | 'pretended';
  readonly requestedAt: Instant;
  readonly graceSeconds: number;
  /** What should come free, in the signal's unit. */
  readonly expected: number;
  /** What was short when it was requested; `undefined` where that has no amount. */
  readonly shortage: Shortfall | undefined;
  /** What all other pods used together when it was requested, in the signal's unit. */
  readonly othersUsed: number;
  /** Since when the pod has been seen to use next to nothing; its object may outlive that, with a finalizer for ever. */
  readonly releasedAt: Instant | undefined;
  /** Whether it was asked for again with the shortest grace; its times stay those of the first request. */
  readonly isShortened: boolean;
}

/** Beyond its grace a pod needs a moment for its volumes and its last words; in the severe stage less is waited for. */
const CLEAN_UP_MS: Readonly<Record<Stage, Instant>> = { mild: 10_000, severe: 5000 };
/** However long its grace, no pod is waited for longer than this (F-32). */
const LONGEST_WAIT_MS = 600_000;
/** A dry run says the same of the same pod at most this often. */
const DRY_RUN_MS = 300_000;
/** In the severe stage only what ends within this time counts. */
const SOON_MS = 3000;
/** A pod that uses less than this share of what it used has given its memory back. */
const RELEASED_SHARE = 0.1;
/** A reading of the pod taken before it was asked to end proves nothing. */
const LEAST_AGE_MS = 1000;

/** When a pod that was asked to end at `since` is counted on: for its grace and a moment more, not only that it will end some day. */
export function isExpected({ since, graceMs }: Termination, stage: Stage, now: Instant): boolean {
  const dueMs = Math.min(graceMs + CLEAN_UP_MS[stage], LONGEST_WAIT_MS);
  const isInTime = now - since <= dueMs;
  return stage === 'mild' ? isInTime : isInTime && now - since >= graceMs - SOON_MS;
}

/** A pod on its way out: since when it was asked to end, and how long it may take. */
export interface Termination {
  readonly since: Instant;
  readonly graceMs: number;
}

function terminationOf({ requestedAt, graceSeconds }: InflightEviction): Termination {
  return { since: requestedAt, graceMs: graceSeconds * 1000 };
}

/** Whether its pod is counted on to end: asked for in time, and not stuck. */
export function isExpectedToEnd(eviction: InflightEviction, stage: Stage, now: Instant): boolean {
  if (eviction.releasedAt !== undefined || eviction.phase === 'stuck') return false;
  return eviction.phase === 'pretended' || isExpected(terminationOf(eviction), stage, now);
}

/**
 * Whether it takes one of the places that the policy gives to evictions at one moment. In the severe stage one that will
 * take long takes none, also while it is asked for again: what is ending never blocks that stage.
 */
export function isOutstanding(eviction: InflightEviction, stage: Stage, now: Instant): boolean {
  const isInTime = stage === 'mild' || isExpected(terminationOf(eviction), stage, now);
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

/** Whether it has been asked for and no answer is known yet, so that no window counts it; asked again, it was counted. */
export function isUncounted({ phase, isShortened }: InflightEviction): boolean {
  return !isShortened && (phase === 'asking' || phase === 'unknown');
}

/**
 * Whether it is worth asking again with the shortest grace. The kubelet of Kubernetes 1.36 does not shorten a stop that
 * it has begun, so nothing is counted on because of it (test/cluster/node/shorter-grace.test.ts).
 */
export function canBeShortened(eviction: InflightEviction, now: Instant): boolean {
  const { phase, graceSeconds, isShortened, releasedAt } = eviction;
  if (phase !== 'ending' || isShortened || releasedAt !== undefined) return false;
  return graceSeconds * 1000 > SOON_MS && !isExpected(terminationOf(eviction), 'severe', now);
}

/** The evictions after one more look at the node. */
export interface Reconciled {
  readonly inflight: readonly InflightEviction[];
  /** Those whose pod has gone, or has been seen to use next to nothing, since the last look. */
  readonly released: readonly InflightEviction[];
}

/** What evictions are held against: the node's pods that have not ended, by UID, and what they use. */
export interface SeenPods {
  readonly alive: ReadonlyMap<string, Pod>;
  readonly usage: UsageByUid;
}

/** Closes evictions whose pod is gone and marks those that gave back what they used, or that take too long. */
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

/** A pod whose group is gone while others are measured has given back everything. */
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
  const usualMs = Math.min(graceSeconds * 1000 + CLEAN_UP_MS[stage], LONGEST_WAIT_MS);
  return now - requestedAt > (phase === 'pretended' ? DRY_RUN_MS : usualMs);
}
