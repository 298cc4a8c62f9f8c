import type { Pod } from '#shared/domain/model/pod.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { getObject } from '#shared/kube/objects.ts';
import { NAMESPACES, PODS } from '#shared/kube/resource.ts';
import type { FreshPod } from '#agent/decide/preflight.ts';
import { namespaceState } from '#agent/watch/namespace-labels.ts';

/** Reads a pod and its namespace once more, both at once; never rejects. */
export type ReadFresh = (pod: Pod, signal: AbortSignal) => Promise<FreshPod>;

/** Whoever cannot answer within this time would not carry out an eviction either. */
const TIMEOUT_MS = 3000;

export function readFresh(client: KubeClient): ReadFresh {
  return async ({ namespace, name }, signal) => {
    const options = { signal, timeoutMs: TIMEOUT_MS };
    const [pod, home] = await Promise.all([
      getObject(client, { resource: PODS, namespace, name }, options),
      getObject(client, { resource: NAMESPACES, name: namespace }, options),
    ]);
    if (pod.kind === 'notFound' || home.kind === 'notFound') return { kind: 'gone' };
    if (pod.kind !== 'ok') return { kind: 'unknown', message: pod.message };
    if (home.kind !== 'ok') return { kind: 'unknown', message: home.message };
    const decoded = decodePod(pod.object);
    if (!decoded.ok) return { kind: 'unknown', message: `${decoded.field}: ${decoded.message}` };
    return { kind: 'found', pod: decoded.value, namespace: namespaceState(home.object) };
  };
}
