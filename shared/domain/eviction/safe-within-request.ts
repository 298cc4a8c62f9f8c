import type { Because } from '#shared/domain/model/because.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { Ineligible } from './choose-victims.ts';

/** A pod that holds more than it requested, or may do so, and that is not evicted now. */
export interface HeldPod {
  /** `namespace/name`, or what is known of a pod that cannot be read. */
  readonly pod: string;
  readonly because: Because;
}

/** Pods that the kubelet does not evict either (`IsCriticalPod`): without this agent, another pod would be evicted. */
const SPARED_BY_KUBELET: readonly string[] = ['ProtectedPriority', 'ProtectedMirrorPod'];

/** Whether a reason against a pod would not exist for the kubelet alone. */
export function isOwnReason({ code }: Because): boolean {
  return !SPARED_BY_KUBELET.includes(code);
}

/** The passed-over pods above their requests that the kubelet alone would evict, largest overage first. */
export function heldAboveRequest(ineligible: readonly Ineligible[]): readonly HeldPod[] {
  const held = ineligible.filter(({ candidate, because }) => candidate.exceedsRequest && isOwnReason(because));
  const byOverage = held.toSorted((left, right) => right.candidate.roundedOverage - left.candidate.roundedOverage);
  return byOverage.map(({ candidate, because }) => ({ pod: nameOf(candidate), because }));
}

/** `namespace/name` of a candidate. */
export function nameOf({ facts: { pod } }: Candidate): string {
  return `${pod.namespace}/${pod.name}`;
}
