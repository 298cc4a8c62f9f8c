import type { ApiRefusal } from '#shared/domain/model/api-refusal.ts';
import { displayName, forbidden } from '#shared/domain/model/api-refusal.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { PriorityClasses } from './priority-class.ts';
import { defaultClass, PREEMPT_LOWER_PRIORITY } from './priority-class.ts';

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
