import { resolvePriority } from '#shared/domain/priority/resolve-priority.ts';
import { severalDefaults } from '#shared/domain/priority/several-defaults.ts';
import { because, type AdmissionCode } from './admission-code.ts';
import type { ClusterState } from './cluster-state.ts';
import { chooseClass, type ClassChoice } from './choose-class.ts';
import { chooseScheduler, type SchedulerChoice } from './choose-scheduler.ts';
import { allow, refuse, type AdmissionDecision, type PriorityFields } from './decision.ts';
import type { PodRequest } from './pod-request.ts';
import { policiesFor } from './rules/policies-for.ts';
import { priorityRefusal } from './refusals/priority-refusal.ts';

/**
 * Decides a new pod's class, priority and preemption policy, and its scheduler where a policy names one. A pod with contradictory fields is refused as the API
 * server would refuse it; whether its class is allowed is decided on the final pod, in the validating phase.
 */
export function decideMutation(request: PodRequest, cluster: ClusterState): AdmissionDecision {
  const resolved = resolvePriority(request.pod, cluster.classes);
  if (resolved.kind === 'refused') return refuse(403, priorityRefusal(request.pod, resolved, cluster.classes));
  const policies = policiesFor(request, cluster);
  const choice = chooseClass(request, policies, cluster.classes);
  const scheduler = chooseScheduler(request, policies);
  const change = { ...choice.fields, ...(scheduler && { schedulerName: scheduler.schedulerName }) };
  const reason = because(CODES[choice.source], describe(choice) + describeScheduler(scheduler), change);
  const warning = choice.source === 'globalDefault' ? severalDefaults(cluster.classes) : undefined;
  const accepted = allow(reason, warning === undefined ? [] : [warning]);
  const isChanged = scheduler !== undefined || !hasFields(request, choice.fields);
  return isChanged ? { ...accepted, change } : accepted;
}

const CODES: Readonly<Record<ClassChoice['source'], AdmissionCode>> = {
  pod: 'PriorityAccepted',
  policy: 'PriorityFromPolicy',
  globalDefault: 'PriorityAccepted',
  substitute: 'PrioritySubstituted',
  none: 'PriorityAccepted',
};

function hasFields({ pod }: PodRequest, fields: PriorityFields): boolean {
  const { priorityClassName = '', priority, preemptionPolicy } = pod.spec;
  return (
    priorityClassName === fields.priorityClassName &&
    priority === fields.priority &&
    preemptionPolicy === fields.preemptionPolicy
  );
}

function describe({ source, policy = '', fields }: ClassChoice): string {
  const { priorityClassName, priority } = fields;
  switch (source) {
    case 'pod':
      return `pod uses priority class \`${priorityClassName}\` (${priority})`;
    case 'policy':
      return `priority class \`${priorityClassName}\` (${priority}) is the default of policy \`${policy}\``;
    case 'globalDefault':
      return `priority class \`${priorityClassName}\` (${priority}) is the global default`;
    case 'substitute':
      return `priority class \`${priorityClassName}\` (${priority}) replaces a class that preempts, by policy \`${policy}\``;
    case 'none':
      return 'the pod names no priority class and there is no default';
  }
}

function describeScheduler(choice: SchedulerChoice | undefined): string {
  return choice === undefined ? '' : `; policy \`${choice.policy}\` gives it scheduler \`${choice.schedulerName}\``;
}
