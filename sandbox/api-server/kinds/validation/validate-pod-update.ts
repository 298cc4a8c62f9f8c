import { isDeepStrictEqual } from 'node:util';
import { type FieldError, forbiddenField } from '#sandbox/api-server/errors/field-error.ts';
import {
  copyOf,
  fieldsAt,
  listAt,
  numberAt,
  textAt,
  type Fields,
  type KubeObject,
} from '#sandbox/api-server/wire/object.ts';
import { validatePod } from './validate-pod.ts';

const IMMUTABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Checks a changed pod: nearly all of its spec is immutable. `ValidatePodUpdate`. */
export function validatePodUpdate(next: KubeObject, previous: KubeObject): FieldError[] {
  const spec = fieldsAt(next, 'spec');
  const before = fieldsAt(previous, 'spec');
  const gates = validateGates(spec, before);
  const tolerations = validateTolerations(spec, before);
  return [
    ...validatePod(next),
    ...gates,
    ...tolerations,
    ...(isDeepStrictEqual(mutableAside(spec, before), before) ? [] : [forbiddenField('spec', IMMUTABLE)]),
  ];
}

/** The new spec with the old values wherever a change is allowed, so that any remaining difference is forbidden. */
function mutableAside(spec: Fields, before: Fields): Fields {
  const masked = copyOf(spec);
  for (const list of ['containers', 'initContainers']) copyImages(listAt(masked, list), listAt(before, list));
  const always = ['activeDeadlineSeconds', 'tolerations', 'schedulingGates'];
  const gated = listAt(before, 'schedulingGates').length > 0 ? ['nodeSelector', 'affinity'] : [];
  const grace =
    (numberAt(before, 'terminationGracePeriodSeconds') ?? 0) < 0 && masked['terminationGracePeriodSeconds'] === 1;
  for (const name of [...always, ...gated, ...(grace ? ['terminationGracePeriodSeconds'] : [])])
    restore(masked, before, name);
  return masked;
}

function copyImages(containers: readonly Fields[], before: readonly Fields[]): void {
  for (const [index, container] of containers.entries()) restore(container, before[index] ?? {}, 'image');
}

function restore(target: Fields, source: Fields, name: string): void {
  if (name in source) target[name] = source[name];
  else Reflect.deleteProperty(target, name);
}

function validateGates(spec: Fields, before: Fields): FieldError[] {
  const known = new Set(listAt(before, 'schedulingGates').map((gate) => textAt(gate, 'name')));
  return listAt(spec, 'schedulingGates').flatMap((gate, index) => {
    const name = textAt(gate, 'name');
    if (known.has(name)) return [];
    return [
      forbiddenField(
        `spec.schedulingGates[${index}].name`,
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      ),
    ];
  });
}

function validateTolerations(spec: Fields, before: Fields): FieldError[] {
  const kept = listAt(spec, 'tolerations');
  const areAllKept = listAt(before, 'tolerations').every((old) =>
    kept.some((one) => isDeepStrictEqual(withoutSeconds(one), withoutSeconds(old))),
  );
  return areAllKept
    ? []
    : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function withoutSeconds(toleration: Fields): Fields {
  const rest = { ...toleration };
  Reflect.deleteProperty(rest, 'tolerationSeconds');
  return rest;
}
