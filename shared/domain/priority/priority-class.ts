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
 * The class of pods that name none: of several the one with the lowest value (oddity P3), of equal ones the first by
 * name, where Kubernetes leaves it to chance. `plugin/pkg/admission/priority/admission.go` getDefaultPriorityClass.
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
