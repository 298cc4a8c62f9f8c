import { isKubeletRefusal, isPreempted } from '#shared/domain/pod/pod.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { placeOf } from '#shared/domain/snapshot/snapshot-pods.ts';
import { decodeObject, readObject, readText } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { SeenPod } from './seen-pod.ts';

/** What has just happened to a pod, as far as it concerns preemption. */
export type PodChange =
  | { readonly kind: 'preempted'; readonly victim: PlacedPod; readonly node: string }
  | { readonly kind: 'nominated'; readonly node: string }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Compares a pod with what was known of it. What happened before the pod was first seen is not reported: after a
 * restart no old preemption is counted again.
 */
export function podChange({ pod, raw, previous }: SeenPod): PodChange | undefined {
  const node = placeOf(pod);
  if (isPending(pod))
    return node === '' || (previous && placeOf(previous.pod)) === node ? undefined : { kind: 'nominated', node };
  if (previous === undefined) return undefined;
  if (pod.status.phase === 'Failed') return refusal(raw);
  const isNewVictim = isPreempted(pod) && !isPreempted(previous.pod);
  return isNewVictim ? { kind: 'preempted', victim: previous, node } : undefined;
}

function isPending({ spec }: SeenPod['pod']): boolean {
  return (spec.nodeName ?? '') === '';
}

function refusal(raw: KubeObject): PodChange | undefined {
  const decoded = decodeObject(raw, (pod) => readObject(pod, 'status', (status) => readText(status, 'reason')));
  const reason = decoded.ok ? decoded.value : undefined;
  return reason !== undefined && isKubeletRefusal(reason) ? { kind: 'refused', reason } : undefined;
}
