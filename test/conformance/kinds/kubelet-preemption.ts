import type { Requirement } from '#shared/domain/eviction/kubelet-preemption.ts';
import { kubeletPreemption } from '#shared/domain/eviction/kubelet-preemption.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { required } from '#test/conformance/required.ts';

interface KubeletPreemptionVector {
  readonly pod: unknown;
  readonly pods: readonly unknown[];
  readonly requirements: readonly Requirement[];
}

/** Kind `kubelet-preemption`: whom the kubelet stops for a critical pod. */
export function answer({ pod, pods, requirements }: KubeletPreemptionVector): unknown {
  const running = pods.map((each) => required(decodePod(each)));
  const found = kubeletPreemption(required(decodePod(pod)), running, requirements);
  if (found.kind === 'impossible') return { want: [], error: found.message };
  return { want: found.victims.map(({ namespace, name }) => `${namespace}/${name}`) };
}
