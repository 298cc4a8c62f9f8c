import { DEFAULT_SCHEDULER } from '#shared/domain/admission/choose-scheduler.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import type { Requester } from '#shared/domain/admission/request.ts';
import { decodePod } from './decode-pod.ts';
import type { Decoded } from './decoded.ts';
import { fieldOf } from './field-of.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import { wishMistakesOfPod } from '#shared/kube/annotations/wish-mistakes.ts';

const LOWEST_INT32 = -(2 ** 31);
const HIGHEST_INT32 = 2 ** 31 - 1;

/**
 * Reads a raw pod from a create request. `namespace` is the request's, which counts where the pod names none.
 */
export function decodePodRequest(raw: unknown, requester: Requester, namespace: string): Decoded<PodRequest> {
  const decoded = decodePod(raw);
  if (!decoded.ok) return decoded;
  const { priority } = decoded.value.spec;
  if (priority !== undefined && !isInt32(priority)) {
    return {
      ok: false,
      field: 'spec.priority',
      message: `expected a whole number from ${LOWEST_INT32} to ${HIGHEST_INT32}`,
    };
  }
  const pod = decoded.value.namespace === '' ? { ...decoded.value, namespace } : decoded.value;
  const spec = fieldOf(raw, 'spec');
  const account = fieldOf(spec, 'serviceAccountName') ?? fieldOf(spec, 'serviceAccount');
  return {
    ok: true,
    value: {
      pod,
      requester,
      serviceAccountName: textOr('default', account),
      schedulerName: textOr(DEFAULT_SCHEDULER, fieldOf(spec, 'schedulerName')),
      classNamedBy: whoNamedTheClass(raw),
      wishMistakes: wishMistakesOfPod(pod.annotations),
    },
  };
}

function textOr(absent: string, value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : absent;
}

/** JSON has no negative zero to a Kubernetes client, and larger numbers lose their last digits when parsed. */
function isInt32(value: number): boolean {
  return value >= LOWEST_INT32 && value <= HIGHEST_INT32 && !Object.is(value, -0);
}

/**
 * managedFields lists the class name only if a client sent it; what the Priority plugin fills in has no owner
 *. Without any managedFields nothing is known.
 */
function whoNamedTheClass(raw: unknown): PodRequest['classNamedBy'] {
  const entries = fieldOf(fieldOf(raw, 'metadata'), 'managedFields');
  if (!Array.isArray(entries) || entries.length === 0) return 'unknown';
  const isNamed = entries.some((entry: unknown) => {
    const spec = fieldOf(fieldOf(entry, 'fieldsV1'), 'f:spec');
    return isRecord(spec) && Object.hasOwn(spec, 'f:priorityClassName');
  });
  return isNamed ? 'person' : 'default';
}
