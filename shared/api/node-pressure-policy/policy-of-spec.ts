import { DEFAULT_LIMITS } from '#shared/domain/eviction/eviction-limits.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { RankingPolicy } from '#shared/domain/ranking/ranking-order.ts';
import { refuseField } from '#shared/kube/decode/wire-object.ts';
import { parseDurationMs, parseShareOrAmount } from './parse-amounts.ts';
import { type AgentPolicy, DEFAULT_POLICY } from './policy.ts';
import type { NodePressurePolicySpec } from './spec.ts';
import { stallRulesOf } from './stall-rules-of-spec.ts';
import { thresholdModesOf } from './threshold-modes-of-spec.ts';

/** What a spec sets, and the defaults for the rest; values that make no sense are refused with their field. */
export function policyOfSpec(spec: NodePressurePolicySpec): AgentPolicy {
  const thresholds = thresholdsOf(spec);
  const { perOwnerPerHour = DEFAULT_POLICY.perOwnerPerHour, ...limits } = spec.limits ?? {};
  return {
    ...DEFAULT_POLICY,
    mode: spec.mode ?? DEFAULT_POLICY.mode,
    thresholds,
    thresholdModes: thresholdModesOf(spec, thresholds),
    memoryFigure: spec.memoryFigure ?? DEFAULT_POLICY.memoryFigure,
    transitionPeriodMs: transitionPeriodOf(spec) ?? DEFAULT_POLICY.transitionPeriodMs,
    mostGraceSeconds: spec.evictionMaxPodGracePeriod ?? DEFAULT_POLICY.mostGraceSeconds,
    stallRules: stallRulesOf(spec),
    ranking: rankingOf(spec),
    limits: { ...DEFAULT_LIMITS, ...limits },
    perOwnerPerHour,
    minimumRelief: parseShareOrAmount('minimumRelief', spec.minimumRelief),
    protect: { ...DEFAULT_POLICY.protect, ...spec.protect },
  };
}

function transitionPeriodOf({ evictionPressureTransitionPeriod: period }: NodePressurePolicySpec) {
  return parseDurationMs('evictionPressureTransitionPeriod', period);
}

const KUBELET_TABLES = ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim'] as const;

/**
 * The kubelet's keys, refused with the kubelet's messages. Without any key the defaults apply; an empty table means no
 * thresholds. Hard memory thresholds are copied to the pods' own limit, as a kubelet that enforces it does, unless the
 * policy sets that signal itself (`0%` switches it off).
 */
function thresholdsOf(spec: NodePressurePolicySpec): AgentPolicy['thresholds'] {
  if (KUBELET_TABLES.every((key) => spec[key] === undefined)) return DEFAULT_POLICY.thresholds;
  const isAllocatableSet = Object.hasOwn(spec.evictionHard ?? {}, 'allocatableMemory.available');
  const parsed = parseThresholds({ ...spec, enforceNodeAllocatable: isAllocatableSet ? [] : ['pods'] });
  return parsed.ok ? parsed.thresholds : refuseField('evictionHard', parsed.mistakes.join('; '));
}

function rankingOf({ ranking: { preset, keys = [], daemonSets } = {}, missingStats }: NodePressurePolicySpec) {
  const usual = DEFAULT_POLICY.ranking;
  const ranking: RankingPolicy = {
    ranking: keys.length > 0 ? { keys } : (preset ?? usual.ranking),
    daemonSets: daemonSets ?? usual.daemonSets,
    missingStats: missingStats ?? usual.missingStats,
  };
  return ranking;
}
