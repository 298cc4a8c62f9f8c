import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import {
  stallKey,
  STILL_WINDOW_MS,
  type StallRatio,
  type StallRule,
  type StallSignal,
} from '#shared/api/node-pressure-policy/stall-rule.ts';
import { type EvictionsByMode, evictionsFor } from '#agent/decide/eviction/eviction-state.ts';
import type { InflightEviction } from '#agent/decide/eviction/inflight-eviction.ts';
import { stallMode } from '#shared/api/node-pressure-policy/rule-mode.ts';
import { proveShortage, type UsageEvidence } from './stall-evidence.ts';
import { REASONS } from '#agent/messages.ts';

/** A rule that is met: since when, and with which current numbers. */
export interface MetStall {
  readonly signal: StallSignal;
  readonly since: Instant;
  readonly because: Because;
  /** Whether tasks stall right now, not only in the past that the windows cover. */
  readonly isWaiting: boolean;
}

/** By `stallKey`; contains only rules that are met. */
export type MetStalls = ReadonlyMap<string, MetStall>;

/** By signal, the time from which stalls count: stalls before an eviction say nothing about the time after it. */
export type StallStarts = ReadonlyMap<StallSignal, Instant>;

/** Separate by mode: a dry-run eviction restarts no window of a rule that enforces. */
export type StallStartsByMode = Readonly<Record<Mode, StallStarts>>;

export const NO_STARTS: StallStartsByMode = { Enforce: new Map(), DryRun: new Map() };

const SIGNALS: readonly StallSignal[] = ['memory.pressure', 'cpu.pressure'];

/**
 * Moves the start of a signal's windows forward while an evicted pod terminates for the same resource, and to the time
 * of a dry-run eviction. `evictions` are those of the previous pass: a pod that is gone since then has just left.
 */
export function advanceStallStarts(
  previous: StallStartsByMode,
  evictions: EvictionsByMode,
  now: Instant,
): StallStartsByMode {
  const next = (mode: Mode): StallStarts => startsAfter(previous[mode], evictionsFor(mode, evictions).inflight, now);
  return { Enforce: next('Enforce'), DryRun: next('DryRun') };
}

function startsAfter(previous: StallStarts, inflight: readonly InflightEviction[], now: Instant): StallStarts {
  if (inflight.length === 0) return previous;
  return new Map(
    SIGNALS.flatMap((signal) => {
      const own = inflight.filter((each) => resourceOf(each.signal) === resourceOf(signal));
      const start = Math.max(previous.get(signal) ?? -Infinity, ...own.map((each) => startAfter(each, now)));
      return Number.isFinite(start) ? [[signal, start] as const] : [];
    }),
  );
}

/** A pod that has released its memory or is stuck no longer moves the start. */
function startAfter({ phase, requestedAt, releasedAt }: InflightEviction, now: Instant): Instant {
  if (phase === 'pretended' || phase === 'stuck') return requestedAt;
  return releasedAt ?? now;
}

/** Stalls as one pass observed them. */
export interface SeenStalls {
  readonly ratios: readonly StallRatio[];
  readonly evidence: UsageEvidence;
  readonly starts: StallStartsByMode;
  readonly now: Instant;
}

/** The rules that are met now; a rule without a measurement is not met. */
export function advanceStalls(previous: MetStalls, policy: AgentPolicy, seen: SeenStalls): MetStalls {
  const met = policy.stallRules.flatMap((rule) => {
    const because = whyMet(rule, seen, seen.starts[stallMode(rule, policy)]);
    if (because === undefined) return [];
    const key = stallKey(rule);
    const since = previous.get(key)?.since ?? seen.now;
    return [[key, { signal: rule.signal, since, because, isWaiting: isWaiting(rule, seen) }] as const];
  });
  return new Map(met);
}

/** A rule is met only if tasks stall in both windows and a shortage is proven at the same time. */
function whyMet(rule: StallRule, seen: SeenStalls, starts: StallStarts): Because | undefined {
  const sinceStart = seen.now - (starts.get(rule.signal) ?? -Infinity);
  const [short, long] = [rule.short, rule.long].map((limit) =>
    sinceStart < limit.windowMs ? undefined : ratioOf(rule, limit.windowMs, seen.ratios),
  );
  if (short === undefined || long === undefined || short < rule.short.ratio || long < rule.long.ratio) return undefined;
  const proof = proveShortage(rule.evidence, seen.evidence);
  if (proof === undefined) return undefined;
  const { signal, share, evidence } = rule;
  const seconds = { shortSeconds: rule.short.windowMs / 1000, longSeconds: rule.long.windowMs / 1000 };
  const figures = { short, long, left: Number(proof['availableShare']), ...seconds };
  return REASONS.stallsWithShortage(
    { signal, share, evidence: evidence.signal, ...figures },
    { signal, share, shortRatio: short, longRatio: long, ...proof },
  );
}

function isWaiting(rule: StallRule, { ratios }: SeenStalls): boolean {
  return (ratioOf(rule, STILL_WINDOW_MS, ratios) ?? 0) >= rule.short.ratio;
}

function ratioOf({ signal, share }: StallRule, windowMs: number, ratios: readonly StallRatio[]): number | undefined {
  return ratios.find((each) => each.signal === signal && each.share === share && each.windowMs === windowMs)?.ratio;
}
