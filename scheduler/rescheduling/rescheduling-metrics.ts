import { POLICY_KINDS } from '#shared/domain/rescheduling/policy.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';

export type ReschedulingMetrics = ReturnType<typeof createReschedulingMetrics>;

const SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Metrics of the rescheduler. */
export function createReschedulingMetrics(metrics: Metrics) {
  const all = {
    moves: metrics.counter(
      'plimsoll_rescheduling_moves_total',
      'Moves that were to be carried out, by policy and what became of the eviction',
      ['policy', 'outcome'],
    ),
    considered: metrics.gauge('plimsoll_rescheduling_considered_pods', 'Pods that the last pass looked at'),
    gain: metrics.gauge(
      'plimsoll_rescheduling_gain_points',
      'Gain of the last moves whose replacements are placed, as it was expected and as it was reached',
      ['policy', 'gain'],
    ),
    seconds: metrics.histogram('plimsoll_rescheduling_plan_duration_seconds', 'Time to plan a pass', [], SECONDS),
  };
  for (const policy of POLICY_KINDS) all.moves.add({ policy, outcome: 'evicted' }, 0);
  return all;
}
