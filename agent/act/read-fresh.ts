import type { Pod } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import { NAMESPACES, PODS } from '#shared/kube/resource.ts';
import type { FreshPod } from '#agent/decide/preflight.ts';
import { namespaceState } from '#agent/observe/api-server/namespace-labels.ts';

/** Reads a pod and its namespace again, in parallel; never rejects. */
export type ReadFresh = (pod: Pod, signal: AbortSignal) => Promise<FreshPod>;

/** A slow API server is still the only way to evict, so the agent waits for it. */
const TIMEOUT_MS = 10_000;

export function readFresh(client: KubeClient): ReadFresh {
  return async ({ namespace, name }, signal) => {
    const options = { signal, timeoutMs: TIMEOUT_MS };
    const [pod, home] = await Promise.all([
      getObject(client, { resource: PODS, namespace, name }, options),
      getObject(client, { resource: NAMESPACES, name: namespace }, options),
    ]);
    if (pod.kind === 'notFound' || home.kind === 'notFound') return { kind: 'gone' };
    if (pod.kind !== 'ok') return unknown(pod);
    if (home.kind !== 'ok') return unknown(home);
    const decoded = decodePod(pod.object);
    if (!decoded.ok) return { kind: 'unreadable', message: `${decoded.field}: ${decoded.message}` };
    return { kind: 'found', pod: decoded.value, namespace: namespaceState(home.object) };
  };
}

/** A busy server, or none, would answer no other request either. */
const WITHOUT_ANSWER: readonly Failure['kind'][] = ['unreachable', 'timeout', 'tooManyRequests', 'unauthorized'];

function unknown({ kind, message, retryAfterSeconds }: Failure): FreshPod {
  return { kind: 'unknown', message, isAnswered: !WITHOUT_ANSWER.includes(kind), retryAfterSeconds };
}
