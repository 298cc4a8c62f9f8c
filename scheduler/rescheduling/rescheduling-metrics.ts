import type { ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import { POLICY_KINDS } from '#shared/domain/rescheduling/policy.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';

export type ReschedulingMetrics = ReturnType<typeof createReschedulingMetrics>;

const SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Metrics of the rescheduler. */
export function createReschedulingMetrics(metrics: Metrics) {
  const all = {
    moves: metrics.counter(
      'plimsoll_rescheduling_moves_total',
      'Planned moves, by policy and outcome of the eviction',
      ['policy', 'outcome'],
    ),
    considered: metrics.gauge('plimsoll_rescheduling_considered_pods', 'Pods that the last pass looked at'),
    gain: metrics.gauge(
      'plimsoll_rescheduling_gain_points',
      'Expected and achieved gain of the last moves whose replacements are placed',
      ['policy', 'gain'],
    ),
    leader: metrics.gauge('plimsoll_rescheduling_leader', 'Whether this replica makes the passes: 1 or 0'),
    stoppedOwners: metrics.gauge(
      'plimsoll_rescheduling_stopped_owners',
      'Owners that are left alone because kube-scheduler disagrees, over all policies',
    ),
    rate: metrics.gauge(
      'plimsoll_rescheduling_move_rate_ratio',
      'Smallest share of its moves that any policy may make; halved after three passes that missed their gain',
      ['policy'],
    ),
    seconds: metrics.histogram('plimsoll_rescheduling_plan_duration_seconds', 'Time to plan a pass', [], SECONDS),
  };
  for (const policy of POLICY_KINDS) all.moves.add({ policy, outcome: 'evicted' }, 0);
  all.leader.set(0);
  showMemories(all, []);
  return all;
}

/** Shows what is remembered about the moves of all policies; nothing on a replica that does not lead. */
export function showMemories(
  { stoppedOwners, rate }: Pick<ReschedulingMetrics, 'stoppedOwners' | 'rate'>,
  memories: readonly ReschedulingMemory[],
): void {
  const owners = memories.flatMap((memory) => [...memory.owners.values()]);
  stoppedOwners.set(owners.filter(({ stop }) => stop !== undefined).length);
  for (const policy of POLICY_KINDS) {
    const rates = memories.map(({ policies }) => policies.get(policy)?.rate ?? 1);
    rate.set(Math.min(1, ...rates), { policy });
  }
}
