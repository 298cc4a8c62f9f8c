import { qosClass, reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { readCase, required } from '#test/conformance/required.ts';

/** Kind `qos`: the QoS class of a pod, and the one that quota scopes believe where the pod's status names one. */
export function answer(raw: unknown): unknown {
  const pod = required(decodePod(readCase(raw, (vector) => vector['pod'])));
  const reported = pod.status.qosClass === undefined ? {} : { reported: reportedQosClass(pod) };
  return { qos: qosClass(pod), ...reported };
}
