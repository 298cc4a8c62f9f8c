import type { Eviction } from '#agent/decide/eviction.ts';
import type { AttemptOutcome } from '#agent/decide/apply-outcome.ts';
import { isPreempted } from '#shared/domain/pod/preempted-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { evictPod } from '#shared/kube/events/evict-pod.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { PODS } from '#shared/kube/resource.ts';
import { ANNOTATION_EVICTION_SIGNAL, ANNOTATION_EVICTION_URGENCY } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** Carries out one eviction, or a dry run of it; resolves with the outcome and never rejects. */
export type AttemptEviction = (eviction: Eviction, signal: AbortSignal) => Promise<AttemptOutcome>;

/**
 * Enforce: calls the Eviction API with the UID of the pod that was chosen. The agent has no other way to remove a pod.
 */
export function enforceEviction(client: KubeClient): AttemptEviction {
  return ({ pod: { namespace, name, uid }, graceSeconds, signal: short, urgency }, signal) => {
    const annotations = {
      [ANNOTATION_EVICTION_SIGNAL]: short,
      ...(urgency === undefined ? {} : { [ANNOTATION_EVICTION_URGENCY]: urgency }),
    };
    return evictPod(client, { namespace, name, uid, gracePeriodSeconds: graceSeconds, annotations, signal });
  };
}

/** DryRun: the same decision without a request. */
export function dryRunEviction(): AttemptEviction {
  return () => Promise.resolve({ kind: 'pretended' });
}

const RETRY_MS = 1000;
const TIMEOUT_MS = 5000;

/** After an unclear answer: reads the pod until the API server shows what happened. */
export async function readAgain(
  client: KubeClient,
  { pod }: Pick<Eviction, 'pod'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const address = { resource: PODS, namespace: pod.namespace, name: pod.name };
  while (!signal.aborted) {
    const outcome = await getObject(client, address, { signal, timeoutMs: TIMEOUT_MS });
    if (outcome.kind === 'notFound') return { kind: 'foundGone' };
    if (outcome.kind === 'ok') return found(outcome.object, pod.uid);
    await clock.sleep(RETRY_MS, signal);
  }
  return { kind: 'timeout', message: 'stopped before the outcome was known' };
}

/** A pod that kube-scheduler preempted meanwhile is no eviction, so it adds no avoid entry (S3-32). */
function found(object: KubeObject, uid: string): AttemptOutcome {
  if (object.metadata.uid !== uid) return { kind: 'foundGone' };
  if (object.metadata.deletionTimestamp === undefined) return { kind: 'foundUnharmed' };
  const decoded = decodePod(object);
  return { kind: decoded.ok && isPreempted(decoded.value) ? 'foundPreempted' : 'foundEnding' };
}
