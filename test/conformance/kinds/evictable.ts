import { isCriticalPod, isMirrorPod, isStaticPod } from '#shared/domain/eviction/protection.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { readCase, required } from '#test/conformance/required.ts';

/** Kind `evictable`: whether the kubelet refuses to evict a pod, and two of the three reasons. */
export function answer(vector: unknown): unknown {
  const pod = required(decodePod(readCase(vector, ({ pod }) => pod)));
  return { critical: isCriticalPod(pod), static: isStaticPod(pod), mirror: isMirrorPod(pod) };
}
