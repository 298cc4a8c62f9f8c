import { type ApiRefusal, forbidden, joinFieldErrors } from '#shared/domain/base/api-refusal.ts';
import { quote } from '#shared/domain/base/texts.ts';
import { subdomainFaults } from '#shared/domain/labels/label-selector.ts';
import {
  PREEMPT_NEVER,
  type PriorityClass,
  PREEMPT_LOWER_PRIORITY,
  defaultClass,
  type PriorityClasses,
} from '#shared/domain/priority/classes-and-policies.ts';

/** The highest value for classes other than system classes. */
const HIGHEST_USER_PRIORITY = 1_000_000_000;

const KIND = 'PriorityClass.scheduling.k8s.io';
const RESOURCE = 'priorityclasses.scheduling.k8s.io';

const SYSTEM_PREFIX = 'system-';
const SYSTEM_VALUES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);

type ClassOutcome = { readonly kind: 'accepted' } | ApiRefusal;

/** 422 with one field error printed plain, several in brackets. `kind` with its group: `PriorityClass.scheduling.k8s.io`. */
export function invalid(kind: string, name: string, fieldErrors: readonly string[]): ApiRefusal {
  const message = `${kind} ${quote(name)} is invalid: ${joinFieldErrors(fieldErrors)}`;
  return { kind: 'refused', code: 422, reason: 'Invalid', message, fieldErrors };
}

/** Whether a class may be created: validation (422) comes before the single default (403) (oddity C1). */
export function validateNewClass(created: PriorityClass, existing: PriorityClasses): ClassOutcome {
  const faults = [...nameFaults(created.name), ...valueFaults(created), ...policyFaults(created.preemptionPolicy)];
  if (faults.length > 0) return invalid(KIND, created.name, faults);
  return checkSingleDefault(created, existing, () => true);
}

/**
 * Whether a class may be changed: only its description and its being the default may. The rules of `system-` names and
 * of values hold on creation only (oddity C2). `pkg/apis/scheduling/validation/validation.go`.
 */
export function validateChangedClass(
  changed: PriorityClass,
  previous: PriorityClass,
  existing: PriorityClasses,
): ClassOutcome {
  const faults = changeFaults(changed, previous);
  if (faults.length > 0) return invalid(KIND, changed.name, faults);
  return checkSingleDefault(changed, existing, (present) => present.name !== changed.name);
}

function nameFaults(name: string): readonly string[] {
  if (name === '') return ['metadata.name: Required value: name or generateName is required'];
  return subdomainFaults(name).map((fault) => `metadata.name: Invalid value: ${quote(name)}: ${fault}`);
}

/** A `system-` name is not also checked against the highest value (oddity C3). */
function valueFaults({ name, value, isGlobalDefault }: PriorityClass): readonly string[] {
  if (name.startsWith(SYSTEM_PREFIX)) {
    const fault = systemClassFault(name, value, isGlobalDefault);
    if (fault === undefined) return [];
    const rule = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only`;
    return [`metadata.name: Forbidden: ${rule}. error: ${fault}`];
  }
  if (value <= HIGHEST_USER_PRIORITY) return [];
  return [`value: Forbidden: maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`];
}

function systemClassFault(name: string, value: number, isGlobalDefault: boolean): string | undefined {
  const required = SYSTEM_VALUES.get(name);
  if (required === undefined) return `${name} is not a known system priority class`;
  if (value !== required) return `value of ${name} PriorityClass must be ${required}`;
  return isGlobalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function policyFaults(policy: string): readonly string[] {
  if (policy === PREEMPT_LOWER_PRIORITY || policy === PREEMPT_NEVER) return [];
  if (policy === '') return ['preemptionPolicy: Required value'];
  const supported = `${quote(PREEMPT_LOWER_PRIORITY)}, ${quote(PREEMPT_NEVER)}`;
  return [`preemptionPolicy: Unsupported value: ${quote(policy)}: supported values: ${supported}`];
}

/** An object without UID is treated as the current one, as the API server does. */
function changeFaults(changed: PriorityClass, previous: PriorityClass): readonly string[] {
  return [
    ...immutableFaults('metadata.name', changed.name, previous.name),
    ...immutableFaults('metadata.uid', changed.uid || previous.uid, previous.uid),
    ...(changed.value === previous.value ? [] : ['value: Forbidden: may not be changed in an update.']),
    ...immutableFaults('preemptionPolicy', changed.preemptionPolicy, previous.preemptionPolicy),
  ];
}

function immutableFaults(field: string, changed: string, previous: string): readonly string[] {
  return changed === previous ? [] : [`${field}: Invalid value: ${quote(changed)}: field is immutable`];
}

/** `plugin/pkg/admission/priority/admission.go` validatePriorityClass; several defaults: oddity C5. */
function checkSingleDefault(
  { name, isGlobalDefault }: PriorityClass,
  existing: PriorityClasses,
  isInTheWay: (present: PriorityClass) => boolean,
): ClassOutcome {
  const present = isGlobalDefault ? defaultClass(existing) : undefined;
  if (present === undefined || !isInTheWay(present)) return { kind: 'accepted' };
  const why = `PriorityClass ${present.name} is already marked as default. Only one default can exist`;
  return forbidden(RESOURCE, name, why);
}
