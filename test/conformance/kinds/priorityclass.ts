import { validateChangedClass, validateNewClass } from '#sandbox/api-server/admission/validate-class.ts';
import { decodePriorityClass } from '#shared/kube/decode/decode-objects.ts';
import { readList, readText } from '#shared/kube/decode/wire-object.ts';
import { describeRefusal } from '#test/conformance/describe-refusal.ts';
import { asIs, byName, readCase, required } from '#test/conformance/required.ts';

/** Kind `priorityclass`: may this PriorityClass be created or changed so. */
export function answer(raw: unknown): unknown {
  const vector = readCase(raw, (fields) => ({
    existing: readList(fields, 'existing', asIs),
    operation: readText(fields, 'operation'),
    object: fields['object'],
    oldObject: fields['oldObject'],
  }));
  const object = required(decodePriorityClass(vector.object));
  const existing = byName(vector.existing.map((each) => required(decodePriorityClass(each))));
  const outcome =
    vector.operation === 'UPDATE'
      ? validateChangedClass(object, required(decodePriorityClass(vector.oldObject)), existing)
      : validateNewClass(object, existing);
  if (outcome.kind === 'refused') return { want: describeRefusal(outcome) };
  return { want: { allowed: true, preemptionPolicy: object.preemptionPolicy } };
}
