import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { UnplacedPods } from '#shared/decide/queues/unplaced-pods.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { HoldGangs } from '#scheduler/queues/hold-gangs.ts';
import { letPodsIn, type Refusal } from '#scheduler/queues/let-pods-in.ts';
import { createQueueMetrics } from '#scheduler/queues/queue-metrics.ts';
import { Reclaim } from '#scheduler/queues/reclaim.ts';
import { StartGangs } from '#scheduler/queues/start-gangs.ts';
import type { queueWorld } from '#test/shared/decide/queues/queue-world.ts';

interface LeaderInput {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly world: Pick<ReturnType<typeof queueWorld>, 'pods' | 'snapshot'>;
  readonly isHeld: () => boolean;
  readonly timeoutMs: number;
}

/** The parts of one leader of queues that have to do with gangs. */
export function gangLeader({ client, clock, world: { pods, snapshot }, isHeld, timeoutMs }: LeaderInput) {
  const leading = new AbortController();
  const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
  const metrics = createQueueMetrics(createMetrics('scheduler'));
  const context = { client, clock, log, pods, metrics, term: { isHeld } };
  const letInPorts = { ...context, classOf: () => undefined, refused: new Map<string, Refusal>() };
  const letIn = (list: readonly WaitingPod[], signal: AbortSignal): Promise<void> =>
    letPodsIn({ letIn: list, released: [] }, letInPorts, signal);
  const ports = { ...context, snapshot, leading: leading.signal, letIn, events: { record: () => undefined } };
  const starts = new StartGangs(ports);
  const holds = new HoldGangs({ ...ports, starts, timeoutMs: () => timeoutMs });
  const reclaim = new Reclaim({ ...ports, settings: () => ({ mode: 'DryRun', overuse: 'Keep' }) });
  return { leading, starts, holds, reclaim, letIn, letInPorts, promises: new UnplacedPods() };
}
