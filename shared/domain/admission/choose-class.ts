import { compareTexts } from '#shared/domain/model/compare-texts.ts';
import {
  defaultClass,
  PREEMPT_LOWER_PRIORITY,
  PREEMPT_NEVER,
  type PriorityClass,
  type PriorityClasses,
} from '#shared/domain/priority/priority-class.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { PriorityFields } from './decision.ts';
import type { PodRequest } from './pod-request.ts';

/** The class that a pod gets and where it comes from; `fields` are its three priority fields. */
export interface ClassChoice {
  readonly source: 'pod' | 'policy' | 'globalDefault' | 'substitute' | 'none';
  /** The policy that set or replaced it. */
  readonly policy: string | undefined;
  readonly fields: PriorityFields;
}

/**
 * Chooses the pod's own class, else the default of its policies, else the global default; then its substitute, if a
 * policy forbids preemption and names one. The pod's class must exist.
 */
export function chooseClass(
  request: PodRequest,
  policies: readonly PriorityPolicy[],
  classes: PriorityClasses,
): ClassChoice {
  const choice = firstChoice(request, policies, classes);
  const found = classes.get(choice.fields.priorityClassName);
  return found === undefined ? choice : (findSubstitute(found, policies, classes) ?? choice);
}

function firstChoice(request: PodRequest, policies: readonly PriorityPolicy[], classes: PriorityClasses): ClassChoice {
  const globalDefault = defaultClass(classes);
  const named = namedClass(request, globalDefault);
  const own = named === undefined ? undefined : classes.get(named);
  if (own !== undefined) return choiceOf('pod', own, undefined);
  const fromPolicy = policyDefault(policies, classes);
  if (fromPolicy !== undefined) return choiceOf('policy', fromPolicy.given, fromPolicy.policy);
  if (globalDefault !== undefined) return choiceOf('globalDefault', globalDefault, undefined);
  const fields = { priorityClassName: '', priority: 0, preemptionPolicy: PREEMPT_LOWER_PRIORITY };
  return { source: 'none', policy: undefined, fields };
}

/** The class that the user named. The API server writes the default's name into a pod before it calls webhooks. */
export function namedClass(
  { pod, classNamedBy }: PodRequest,
  globalDefault: PriorityClass | undefined,
): string | undefined {
  const name = pod.spec.priorityClassName;
  const wasFilledIn = classNamedBy === 'default' && name === globalDefault?.name;
  return wasFilledIn ? undefined : name;
}

/** With several defaults, the class with the lowest value applies, as with several global defaults. */
function policyDefault(policies: readonly PriorityPolicy[], classes: PriorityClasses) {
  const candidates = policies.flatMap(({ name, defaultClassName }) => {
    const given = defaultClassName === undefined ? undefined : classes.get(defaultClassName);
    return given === undefined ? [] : [{ policy: name, given }];
  });
  return candidates.sort((a, b) => a.given.value - b.given.value || compareTexts(a.given.name, b.given.name))[0];
}

function findSubstitute(
  preempting: PriorityClass,
  policies: readonly PriorityPolicy[],
  classes: PriorityClasses,
): ClassChoice | undefined {
  if (preempting.preemptionPolicy === PREEMPT_NEVER) return undefined;
  for (const { name, preemption, substitutes } of policies) {
    const substitute = preemption === 'Never' ? classes.get(substitutes.get(preempting.name) ?? '') : undefined;
    if (substitute?.preemptionPolicy === PREEMPT_NEVER) return choiceOf('substitute', substitute, name);
  }
  return undefined;
}

function choiceOf(source: ClassChoice['source'], chosen: PriorityClass, policy: string | undefined): ClassChoice {
  return { source, policy, fields: fieldsOf(chosen) };
}

/** The priority fields of a pod of this class. */
export function fieldsOf({ name, value, preemptionPolicy }: PriorityClass): PriorityFields {
  return { priorityClassName: name, priority: value, preemptionPolicy };
}
