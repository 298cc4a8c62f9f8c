import type { ReclaimSettings } from '#shared/domain/queue/reclaim-settings.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { HoldGangs } from './hold-gangs.ts';
import { type LetInPorts, letPodsIn } from './let-pods-in.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import { Reclaim, type ReclaimPorts } from './reclaim.ts';
import { StartGangs } from './start-gangs.ts';

/** What every part here needs. */
interface RoomPorts extends Omit<ReclaimPorts, 'settings' | 'leading' | 'letIn' | 'gangs' | 'metrics'> {
  readonly metrics: QueueMetrics;
  readonly declared: () => { readonly reclaim: ReclaimSettings; readonly gangTimeoutMs: number };
  readonly letInPorts: LetInPorts;
}

/** What sets nodes aside, lets gangs in, and evicts for queues. */
export function createRoomParts({ declared, letInPorts, ...ports }: RoomPorts, leading: AbortSignal) {
  const letIn: ReclaimPorts['letIn'] = (pods, signal) => letPodsIn({ letIn: pods, released: [] }, letInPorts, signal);
  const shared = { ...ports, letIn, leading };
  const starts = new StartGangs(shared);
  const holds = new HoldGangs({ ...shared, starts, timeoutMs: () => declared().gangTimeoutMs });
  const reclaim = new Reclaim({ ...shared, gangs: starts, settings: () => declared().reclaim });
  return {
    starts,
    holds,
    reclaim,
    round: async (plan: QueuePlan, passing: AbortSignal): Promise<void> => {
      holds.round(plan);
      await reclaim.round(plan, passing);
    },
    onTakeover: (holder: string): void => {
      ports.log.info({ holder }, 'Another kube-scheduler has taken over; nominations are written again');
      for (const part of [reclaim, starts]) part.onSchedulerTakeover();
    },
    settled: async (): Promise<void> => {
      await Promise.all([holds, reclaim, starts].map((part) => part.settled()));
    },
  };
}
