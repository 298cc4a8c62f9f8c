import type { Because } from '#shared/domain/model/because.ts';
import { qosClass } from '#shared/domain/pod/qos.ts';
import { reasonOf } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

/**
 * Refuses a QoS class that does not follow from the spec. Quota scopes trust `status.qosClass`, so a forged value would
 * take a pod out of a BestEffort quota (oddity S3).
 */
export function breaksQosRule({ pod }: PodRequest): Because | undefined {
  const { qosClass: given } = pod.status;
  const computed = qosClass(pod);
  if (given === undefined || given === computed) return undefined;
  const shown = given.length > LONGEST_SHOWN ? 'a longer text' : `\`${given}\``;
  return reasonOf(MESSAGES.forgedQosClass, { computed, shown }, { given: given.slice(0, LONGEST_SHOWN), computed });
}

/** No QoS class is longer, and a client's value need not be repeated in full. */
const LONGEST_SHOWN = 40;
