import { resolvePriority } from '#shared/domain/priority/resolve-priority.ts';
import { because, type AdmissionCode } from './admission-code.ts';
import type { AdmissionWorld } from './admission-world.ts';
import { chooseClass, type ClassChoice } from './choose-class.ts';
import { allow, refuse, type AdmissionDecision, type PriorityFields } from './decision.ts';
import type { PodRequest } from './pod-request.ts';
import { policiesFor } from './policies-for.ts';
import { priorityRefusal } from './priority-refusal.ts';

/**
 * What a new pod's class, number and preemption policy become. A pod that contradicts itself is refused as the API
 * server would; whether its class is allowed is judged on the final pod, in the validating phase.
 */
export function decideMutation(request: PodRequest, world: AdmissionWorld): AdmissionDecision {
  const resolved = resolvePriority(request.pod, world.classes);
  if (resolved.kind === 'refused') return refuse(403, priorityRefusal(request.pod, resolved, world.classes));
  const choice = chooseClass(request, policiesFor(request, world), world.classes);
  const reason = because(CODES[choice.source], describe(choice), { ...choice.fields });
  const accepted = allow(reason, choice.source === 'globalDefault' ? warnOfDefaults(choice, world) : []);
  return hasFields(request, choice.fields) ? accepted : { ...accepted, change: choice.fields };
}

/** Two classes can be made the default at once, for the API server checks a cache; which one counts then surprises (S1-5). */
function warnOfDefaults({ fields }: ClassChoice, { classes }: AdmissionWorld): readonly string[] {
  const defaults = [...classes.values()].filter(({ isGlobalDefault }) => isGlobalDefault).map(({ name }) => name);
  if (defaults.length < 2) return [];
  const names = defaults
    .sort()
    .map((name) => `\`${name}\``)
    .join(', ');
  return [
    `several priority classes are the global default (${names}): the lowest, \`${fields.priorityClassName}\`, counts`,
  ];
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
      return `pod names priority class \`${priorityClassName}\` (${priority})`;
    case 'policy':
      return `priority class \`${priorityClassName}\` (${priority}) is the default of policy \`${policy}\``;
    case 'globalDefault':
      return `priority class \`${priorityClassName}\` (${priority}) is the global default`;
    case 'substitute':
      return `priority class \`${priorityClassName}\` (${priority}) takes the place of a class that preempts, by policy \`${policy}\``;
    case 'none':
      return 'no priority class is named and none is the default';
  }
}
