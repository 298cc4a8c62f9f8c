import { qosClass } from '#shared/domain/pod/qos.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { fieldsOf, type KubeObject } from '#sandbox/api-server/wire/object.ts';

/** What a pod's status is when it is made, whatever the client sent. `pkg/registry/core/pod/strategy.go`. */
export function preparePod(pod: KubeObject): void {
  const decoded = decodePod(pod);
  fieldsOf(pod)['status'] = { phase: 'Pending', ...(decoded.ok ? { qosClass: qosClass(decoded.value) } : {}) };
}
