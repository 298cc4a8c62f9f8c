import { type ApiRefusal, forbidden, invalid, displayName } from '#shared/domain/base/api-refusal.ts';
import { quote } from '#shared/domain/base/texts.ts';
import { subdomainFaults } from '#shared/domain/labels/label-syntax.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';

/** A PriorityClass with the API's defaults applied; `preemptionPolicy` may be any text until it is validated. */
export interface PriorityClass {
  readonly name: string;
  readonly uid: string;
  readonly value: number;
  readonly isGlobalDefault: boolean;
  readonly preemptionPolicy: string;
}

/** The classes of a cluster by name. */
export type PriorityClasses = ReadonlyMap<string, PriorityClass>;

export const PREEMPT_LOWER_PRIORITY = 'PreemptLowerPriority';
export const PREEMPT_NEVER = 'Never';

/**
 * The class of pods that name none. If there are several, the one with the lowest value applies (oddity P3); among
 * equal values the first by name, where Kubernetes leaves the choice to chance.
 * `plugin/pkg/admission/priority/admission.go` getDefaultPriorityClass.
 */
export function defaultClass(classes: PriorityClasses): PriorityClass | undefined {
  let chosen: PriorityClass | undefined;
  for (const candidate of classes.values()) {
    if (candidate.isGlobalDefault && (chosen === undefined || comesFirst(candidate, chosen))) chosen = candidate;
  }
  return chosen;
}

function comesFirst(a: PriorityClass, b: PriorityClass): boolean {
  return a.value === b.value ? a.name < b.name : a.value < b.value;
}

/**
 * Two classes can become the default at once, because the API server checks a cache; which one then applies is a
 * surprise (S1-5).
 */
export function severalDefaults(classes: PriorityClasses): string | undefined {
  const defaults = [...classes.values()].filter(({ isGlobalDefault }) => isGlobalDefault).map(({ name }) => name);
  const lowest = defaultClass(classes);
  if (lowest === undefined || defaults.length < 2) return undefined;
  const names = defaults
    .sort()
    .map((name) => `\`${name}\``)
    .join(', ');
  return `several priority classes are the global default (${names}): the lowest, \`${lowest.name}\`, counts`;
}

/** The three fields that must agree, as stored. */
export interface PodPriority {
  readonly kind: 'resolved';
  readonly priorityClassName: string;
  readonly priority: number | undefined;
  readonly preemptionPolicy: string | undefined;
}

/**
 * What a new pod's priority is: its class, else the default class, else 0. An explicit number or policy must equal the
 * computed one; the number is checked first (oddity P2). `plugin/pkg/admission/priority/admission.go` admitPod.
 */
export function resolvePriority(pod: Pod, classes: PriorityClasses): PodPriority | ApiRefusal {
  const computed = computePriority(pod.spec.priorityClassName, classes);
  if (computed === undefined) {
    return refuse(pod, `no PriorityClass with name ${pod.spec.priorityClassName ?? ''} was found`);
  }
  const { priority, preemptionPolicy } = pod.spec;
  if (priority !== undefined && priority !== computed.priority) {
    return refuse(pod, mismatch('integer value of priority', String(priority), String(computed.priority)));
  }
  if (preemptionPolicy !== undefined && preemptionPolicy !== computed.preemptionPolicy) {
    return refuse(pod, mismatch('string value of PreemptionPolicy', preemptionPolicy, computed.preemptionPolicy));
  }
  return computed;
}

/** An update does not look up a class: number and policy are kept if the new pod lacks them (oddity P6). */
export function keepPriority(pod: Pod, oldPod: Pod): PodPriority {
  return {
    kind: 'resolved',
    priorityClassName: pod.spec.priorityClassName ?? '',
    priority: pod.spec.priority ?? oldPod.spec.priority,
    preemptionPolicy: pod.spec.preemptionPolicy ?? oldPod.spec.preemptionPolicy,
  };
}

function computePriority(className: string | undefined, classes: PriorityClasses) {
  const found = className === undefined ? defaultClass(classes) : classes.get(className);
  if (found === undefined && className !== undefined) return undefined;
  return {
    kind: 'resolved',
    priorityClassName: found?.name ?? '',
    priority: found?.value ?? 0,
    preemptionPolicy: found?.preemptionPolicy ?? PREEMPT_LOWER_PRIORITY,
  } as const;
}

function refuse(pod: Pod, why: string): ApiRefusal {
  return forbidden('pods', displayName(pod), why);
}

function mismatch(what: string, given: string, computed: string): string {
  return (
    `the ${what} (${given}) must not be provided in pod spec; ` +
    `priority admission controller computed ${computed} from the given PriorityClass name`
  );
}

/** The highest value for classes other than system classes. */
export const HIGHEST_USER_PRIORITY = 1_000_000_000;

const KIND = 'PriorityClass.scheduling.k8s.io';
const RESOURCE = 'priorityclasses.scheduling.k8s.io';

const SYSTEM_PREFIX = 'system-';
const SYSTEM_VALUES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);

export type ClassOutcome = { readonly kind: 'accepted' } | ApiRefusal;

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
