import type { Eviction } from '#agent/decide/eviction.ts';
import type { AttemptOutcome } from '#agent/decide/apply-outcome.ts';
import type { InflightEviction } from '#agent/decide/eviction/inflight-eviction.ts';
import { isPreempted } from '#shared/domain/pod/preempted-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type EvictionRequest, evictPod } from '#shared/kube/events/evict-pod.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { PODS } from '#shared/kube/resource.ts';
import { ANNOTATION_EVICTION_URGENCY } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** Requests one eviction, or a dry run of it; resolves with the outcome and never rejects. */
export type AttemptEviction = (eviction: Eviction, signal: AbortSignal) => Promise<AttemptOutcome>;

/**
 * Enforce: calls the Eviction API with the UID of the pod that was chosen. The agent has no other way to remove a pod.
 */
export function enforceEviction(client: KubeClient): AttemptEviction {
  return (eviction, signal) => evictPod(client, { ...requestOf(eviction), signal });
}

/**
 * DryRun: the same request with `dryRun=All`, so that the API server and its webhooks refuse what they would refuse, for
 * example because of a PodDisruptionBudget. Nothing is stored.
 */
export function dryRunEviction(client: KubeClient): AttemptEviction {
  return async (eviction, signal) => {
    const outcome = await evictPod(client, { ...requestOf(eviction), dryRun: true, signal });
    return outcome.kind === 'evicted' ? { kind: 'pretended' } : outcome;
  };
}

function requestOf({ pod: { namespace, name, uid }, graceSeconds, urgency }: Eviction): EvictionRequest {
  const annotations = urgency === undefined ? {} : { [ANNOTATION_EVICTION_URGENCY]: urgency };
  return { namespace, name, uid, gracePeriodSeconds: graceSeconds, annotations };
}

const RETRY_MS = 1000;
const TIMEOUT_MS = 5000;

/** After an unclear answer: reads the pod until the API server shows what happened. */
export async function readAgain(
  client: KubeClient,
  { pod, mode }: Pick<Eviction, 'pod' | 'mode'>,
  clock: Clock,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const address = { resource: PODS, namespace: pod.namespace, name: pod.name };
  while (!signal.aborted) {
    const outcome = await getObject(client, address, { signal, timeoutMs: TIMEOUT_MS });
    if (outcome.kind === 'notFound') return { kind: 'foundGone' };
    if (outcome.kind === 'ok') return found(outcome.object, { uid: pod.uid, mode });
    await clock.sleep(RETRY_MS, signal);
  }
  return { kind: 'timeout', message: 'stopped before the outcome was known' };
}

/**
 * A pod that kube-scheduler preempted meanwhile is no eviction, so it adds no avoid entry (S3-32); a pod that terminates
 * after a dry run was removed by another program.
 */
function found(object: KubeObject, { uid, mode }: Pick<InflightEviction, 'uid' | 'mode'>): AttemptOutcome {
  if (object.metadata.uid !== uid) return { kind: 'foundGone' };
  if (object.metadata.deletionTimestamp === undefined) return { kind: 'foundUnharmed' };
  if (mode === 'DryRun') return { kind: 'foundGone' };
  const decoded = decodePod(object);
  return { kind: decoded.ok && isPreempted(decoded.value) ? 'foundPreempted' : 'foundEnding' };
}
