import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import type { StallLimit, StallRatio, StallRule, StallSignal } from '#agent/policy/stall-rule.ts';
import { proveShortage, type UsageEvidence } from './stall-evidence.ts';

/** A rule that is met: since when without a break, and on which numbers now. */
export interface MetStall {
  readonly since: Instant;
  readonly because: Because;
}

/** By signal; a rule that is not met is not in it. */
export type MetStalls = ReadonlyMap<StallSignal, MetStall>;

/** The rules that are met now; what was not measured is not met (law 3). */
export function advanceStalls(
  previous: MetStalls,
  rules: readonly StallRule[],
  seen: { readonly ratios: readonly StallRatio[]; readonly evidence: UsageEvidence },
  now: Instant,
): MetStalls {
  const met = rules.flatMap((rule) => {
    const because = whyMet(rule, seen.ratios, seen.evidence);
    if (because === undefined) return [];
    return [[rule.signal, { since: previous.get(rule.signal)?.since ?? now, because }] as const];
  });
  return new Map(met);
}

/** Waiting in both windows and a proven shortage coincide, or the rule is not met. */
function whyMet(rule: StallRule, ratios: readonly StallRatio[], evidence: UsageEvidence): Because | undefined {
  const short = ratioOf(rule, rule.short, ratios);
  const long = ratioOf(rule, rule.long, ratios);
  if (short === undefined || long === undefined || short < rule.short.ratio || long < rule.long.ratio) return undefined;
  const proof = proveShortage(rule.evidence, evidence);
  if (proof === undefined) return undefined;
  const { signal, share } = rule;
  const facts = { signal, share, shortRatio: short, longRatio: long, ...proof };
  return { code: 'StallsWithShortage', text: tell(rule, { short, long, left: proof['availableShare'] }), facts };
}

function ratioOf({ signal, share }: StallRule, { windowMs }: StallLimit, ratios: readonly StallRatio[]) {
  return ratios.find((each) => each.signal === signal && each.share === share && each.windowMs === windowMs)?.ratio;
}

interface Told {
  readonly short: number;
  readonly long: number;
  readonly left: Because['facts'][string] | undefined;
}

function tell({ signal, share, evidence, ...windows }: StallRule, { short, long, left }: Told): string {
  const waited = `${percent(short)} of ${windows.short.windowMs / 1000} s and ${percent(long)} of ${windows.long.windowMs / 1000} s`;
  return `${signal} (${share}) took ${waited} while ${evidence.signal} was ${percent(Number(left))}`;
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 1000) / 10} %`;
}
