import { type Requirement, kubeletPreemption } from '#test/conformance/kubelet/kubelet-preemption.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type WireObject, readCount, readList, readObject, readText } from '#shared/kube/decode/wire-object.ts';
import { asIs, readCase, required } from '#test/conformance/required.ts';

/** Kind `kubelet-preemption`: whom the kubelet stops for a critical pod. */
export function answer(vector: unknown): unknown {
  const { pod, pods, requirements } = readCase(vector, readVector);
  const running = pods.map((each) => required(decodePod(each)));
  const found = kubeletPreemption(required(decodePod(pod)), running, requirements);
  if (found.kind === 'impossible') return { want: [], error: found.message };
  return { want: found.victims.map(({ namespace, name }) => `${namespace}/${name}`) };
}

function readVector(vector: WireObject) {
  return {
    pod: readObject(vector, 'pod', asIs),
    pods: readList(vector, 'pods', asIs),
    requirements: readList(vector, 'requirements', readRequirement),
  };
}

function readRequirement(requirement: WireObject): Requirement {
  return { resource: readText(requirement, 'resource') ?? '', quantity: readCount(requirement, 'quantity') ?? 0 };
}
