import { isDeepStrictEqual } from 'node:util';
import { type FieldError, invalidValue, required } from '#sandbox/api-server/errors/field-error.ts';
import { matchesSelector } from '#sandbox/api-server/selectors/label-query.ts';
import { fieldsAt, isFields, textAt, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { atLeast, oneOf, validatePodSpec } from './validate-pod.ts';

/** Checks a Deployment, ReplicaSet, StatefulSet or DaemonSet: its selector finds the pods of its template. */
export function validateWorkload(object: KubeObject): FieldError[] {
  const spec = fieldsAt(object, 'spec');
  return [...atLeast(spec, 'replicas', 0, 'spec'), ...validateSelector(spec), ...validateTemplate(spec, ['Always'])];
}

/** The selector of a workload never changes. */
export function validateWorkloadUpdate(next: KubeObject, previous: KubeObject): FieldError[] {
  const selector = fieldsAt(next, 'spec')['selector'];
  const changed = isDeepStrictEqual(selector, fieldsAt(previous, 'spec')['selector'])
    ? []
    : [invalidValue('spec.selector', selector, 'field is immutable')];
  return [...validateWorkload(next), ...changed];
}

function validateSelector(spec: Fields): FieldError[] {
  const selector = spec['selector'];
  if (!isFields(selector)) return [required('spec.selector')];
  if (Object.keys(selector).length === 0)
    return [invalidValue('spec.selector', selector, 'empty selector is invalid for deployment')];
  const labels = fieldsAt(fieldsAt(fieldsAt(spec, 'template'), 'metadata'), 'labels') as Record<string, string>;
  if (matchesSelector(selector, labels)) return [];
  return [invalidValue('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')];
}

function validateTemplate(spec: Fields, restartPolicies: readonly string[]): FieldError[] {
  const podSpec = fieldsAt(fieldsAt(spec, 'template'), 'spec');
  return [
    ...validatePodSpec(podSpec, 'spec.template.spec'),
    ...oneOf(podSpec, 'restartPolicy', restartPolicies, 'spec.template.spec'),
  ];
}

export function validateJob(job: KubeObject): FieldError[] {
  const spec = fieldsAt(job, 'spec');
  const counts = ['parallelism', 'completions', 'backoffLimit', 'ttlSecondsAfterFinished'].flatMap((name) =>
    atLeast(spec, name, 0, 'spec'),
  );
  const podSpec = fieldsAt(fieldsAt(spec, 'template'), 'spec');
  return [...counts, ...validatePodSpec(podSpec, 'spec.template.spec'), ...validateJobRestart(podSpec)];
}

function validateJobRestart(podSpec: Fields): FieldError[] {
  if (textAt(podSpec, 'restartPolicy') !== 'Always') return [];
  return [required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"')];
}

export function validateJobUpdate(next: KubeObject, previous: KubeObject): FieldError[] {
  const fixed = ['completions', 'selector', 'template', 'completionMode'];
  const changed = fixed.filter(
    (name) => !isDeepStrictEqual(fieldsAt(next, 'spec')[name], fieldsAt(previous, 'spec')[name]),
  );
  return [
    ...validateJob(next),
    ...changed.map((name) => invalidValue(`spec.${name}`, fieldsAt(next, 'spec')[name], 'field is immutable')),
  ];
}

export function validateCronJob(cronJob: KubeObject): FieldError[] {
  const spec = fieldsAt(cronJob, 'spec');
  const schedule = textAt(spec, 'schedule') === '' ? [required('spec.schedule')] : [];
  return [...schedule, ...oneOf(spec, 'concurrencyPolicy', ['Allow', 'Forbid', 'Replace'], 'spec')];
}

/** Checks a PodDisruptionBudget. `pkg/apis/policy/validation/validation.go`. */
export function validateBudget(budget: KubeObject): FieldError[] {
  const spec = fieldsAt(budget, 'spec');
  const policy = oneOf(spec, 'unhealthyPodEvictionPolicy', ['IfHealthyBudget', 'AlwaysAllow'], 'spec');
  if (spec['minAvailable'] === undefined || spec['maxUnavailable'] === undefined) return policy;
  return [...policy, invalidValue('spec', spec, 'minAvailable and maxUnavailable cannot be both set')];
}
