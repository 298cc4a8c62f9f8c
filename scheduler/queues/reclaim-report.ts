import { decideReclaimInSteps, type ReclaimDecision } from '#shared/domain/queue/reclaim.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { inSlices } from '#shared/runtime/turns/turns.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import { questionOf, readReclaimState, type ReclaimInput, takersOf } from './reclaim-question.ts';

/** Looked at in one round; the next ones have to wait for these anyhow. */
const MAX_TAKERS = 20;

export interface ReclaimReportPorts extends Pick<ClientContext, 'clock' | 'log'> {
  readonly metrics: Pick<QueueMetrics, 'reclaims'>;
}

/**
 * Makes a dry run of reclaim: it says in the log which pods would go for a pod whose queue is under its guarantee, once for
 * each decision, and evicts nothing. Whether the node suits the pod by more than amounts is not looked at.
 */
export function createReclaimReport({ clock, log, metrics }: ReclaimReportPorts) {
  let reported = new Map<string, string>();
  return async (input: ReclaimInput, signal: AbortSignal): Promise<void> => {
    const takers = takersOf(input).slice(0, MAX_TAKERS);
    const next = new Map<string, string>();
    if (takers.length > 0) {
      const state = await inSlices(readReclaimState(input), clock, signal);
      for (const pod of takers) {
        const question = questionOf(state, pod, clock.now());
        const decision = await inSlices(decideReclaimInSteps(question), clock, signal);
        const said = textOf(decision);
        next.set(pod.uid, said);
        if (reported.get(pod.uid) !== said) report(pod, decision);
      }
    }
    reported = next;
  };

  function report(pod: WaitingPod, decision: ReclaimDecision): void {
    metrics.reclaims.add({ decision: decision.kind, mode: 'DryRun' });
    if (decision.kind !== 'reclaim') return;
    const { node, victims, isLastResort, because } = decision;
    const facts = { pod: pod.name, queue: pod.queue, node, isLastResort, because };
    log.info({ ...facts, victims: victims.map(({ name }) => name) }, 'Would reclaim room (dry run)');
  }
}

function textOf(decision: ReclaimDecision): string {
  if (decision.kind === 'none') return decision.because.code;
  return JSON.stringify([decision.node, decision.kind === 'reclaim' && decision.victims.map(({ uid }) => uid)]);
}
