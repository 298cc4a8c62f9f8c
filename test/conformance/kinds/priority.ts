import type { ApiRefusal } from '#shared/domain/base/api-refusal.ts';
import { type PodPriority, resolvePriority } from '#shared/domain/priority/classes-and-policies.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodePriorityClass } from '#shared/kube/decode/decode-objects.ts';
import { keepPriority } from '#sandbox/api-server/admission/keep-priority.ts';
import { readList, readText } from '#shared/kube/decode/wire-object.ts';
import { describeRefusal } from '#test/conformance/describe-refusal.ts';
import { asIs, byName, readCase, required } from '#test/conformance/required.ts';
import { isPriorityKept } from './is-priority-kept.ts';

/** Kind `priority`: what the Priority admission plugin makes of a pod. */
export function answer(raw: unknown): unknown {
  const vector = readCase(raw, (fields) => ({
    classes: readList(fields, 'classes', asIs),
    operation: readText(fields, 'operation'),
    pod: fields['pod'],
    oldPod: fields['oldPod'],
  }));
  const pod = required(decodePod(vector.pod));
  if (vector.operation === 'UPDATE') {
    const oldPod = required(decodePod(vector.oldPod));
    const kept = keepPriority(pod, oldPod);
    return { want: { ...describe(kept), updateValid: isPriorityKept(kept, oldPod) } };
  }
  const classes = byName(vector.classes.map((each) => required(decodePriorityClass(each))));
  return { want: describe(resolvePriority(pod, classes)) };
}

function describe(outcome: PodPriority | ApiRefusal): object {
  if (outcome.kind === 'refused') return describeRefusal(outcome);
  const { priorityClassName, priority, preemptionPolicy } = outcome;
  return { allowed: true, priorityClassName, priority, preemptionPolicy };
}
