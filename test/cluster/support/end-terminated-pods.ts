import type { KubeClient } from '#shared/kube/client/client.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { letTimePass } from '#test/build/waiting.ts';

const PERIOD_MS = 250;
const PODS = '/api/v1/pods';

/** Ends terminating pods when their grace period is over, as the kubelets of fake nodes would, until `signal` aborts. */
export async function endTerminatedPods(client: KubeClient, signal: AbortSignal, periodMs = PERIOD_MS): Promise<void> {
  while (!signal.aborted) {
    const outcome = await client.request({ path: PODS });
    const pods = (at(outcome, 'object.items') ?? []) as readonly unknown[];
    for (const each of pods.filter(isOver)) {
      const path = `/api/v1/namespaces/${textAt(each, 'metadata.namespace')}/pods/${textAt(each, 'metadata.name')}`;
      const preconditions = { uid: textAt(each, 'metadata.uid') };
      await client.request({ method: 'DELETE', path, body: { gracePeriodSeconds: 0, preconditions } });
    }
    await letTimePass(periodMs, 'double', signal);
  }
}

function isOver(pod: unknown): boolean {
  const endsAt = at(pod, 'metadata.deletionTimestamp');
  return typeof endsAt === 'string' && Date.parse(endsAt) <= systemClock.now();
}
