import { type AgentPolicy, DEFAULT_POLICY } from '#shared/api/node-pressure-policy/policy.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { RankingPolicy } from '#shared/domain/ranking/ranking-order.ts';
import type { PolicyChoice } from './scenario.ts';

/** The policy as the agent holds it. */
export function policyOf(choice: PolicyChoice): AgentPolicy {
  const { mode, concurrent, perMinute, perTenMinutes, perNamespace, perOwnerPerHour } = choice;
  return {
    ...DEFAULT_POLICY,
    name: 'laws',
    generation: 1,
    confirmedGeneration: 1,
    mode,
    // Nothing stalls on these nodes.
    stallRules: [],
    thresholds: thresholdsOf(choice),
    mostGraceSeconds: choice.mostGraceSeconds,
    ranking: rankingOf(choice),
    limits: { concurrent, perMinute, perTenMinutes, perNamespacePerTenMinutes: perNamespace },
    perOwnerPerHour,
    protect: {
      ...DEFAULT_POLICY.protect,
      optOutCeiling: choice.optOutCeiling,
      optOut: choice.optOut,
      withinRequest: choice.withinRequest,
    },
  };
}

function thresholdsOf({ hardMiB, softMiB, softGraceSeconds, reclaimMiB }: PolicyChoice): AgentPolicy['thresholds'] {
  const parsed = parseThresholds({
    evictionHard: { 'memory.available': `${hardMiB}Mi` },
    ...(softMiB === undefined
      ? {}
      : {
          evictionSoft: { 'memory.available': `${softMiB}Mi` },
          evictionSoftGracePeriod: { 'memory.available': `${softGraceSeconds}s` },
        }),
    ...(reclaimMiB === undefined ? {} : { evictionMinimumReclaim: { 'memory.available': `${reclaimMiB}Mi` } }),
  });
  if (!parsed.ok) throw new Error(parsed.mistakes.join('; '));
  return parsed.thresholds;
}

function rankingOf({ ranking, missingStats, daemonSets }: PolicyChoice): RankingPolicy {
  const preset = typeof ranking === 'string' ? ranking : { keys: ranking };
  return { ranking: preset, missingStats, daemonSets };
}
