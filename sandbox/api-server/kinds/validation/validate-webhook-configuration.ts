import { type FieldError, duplicate, invalidValue, required, tooMany } from '#sandbox/api-server/errors/field-error.ts';
import {
  fieldsAt,
  listAt,
  numberAt,
  textAt,
  type Fields,
  type KubeObject,
  scalarText,
} from '#sandbox/api-server/wire/object.ts';
import { compileExpression } from '#sandbox/api-server/cel/expression.ts';
import { CONDITION_VARIABLES } from '#sandbox/api-server/webhooks/webhook.ts';
import { oneOf } from './validate-pod.ts';

const MAX_TIMEOUT = 30;
const MAX_CONDITIONS = 64;

/** Checks a webhook configuration. `pkg/apis/admissionregistration/validation/validation.go`. */
export function validateWebhookConfiguration(configuration: KubeObject): FieldError[] {
  const names = new Set<string>();
  return listAt(configuration, 'webhooks').flatMap((webhook, index) => {
    const path = `webhooks[${index}]`;
    const name = textAt(webhook, 'name');
    const repeated = names.has(name) ? [duplicate(`${path}.name`, name)] : [];
    names.add(name);
    return [...validateName(name, path), ...repeated, ...validateWebhook(webhook, path)];
  });
}

function validateName(name: string, path: string): FieldError[] {
  if (name === '') return [required(`${path}.name`)];
  return name.split('.').length < 3
    ? [invalidValue(`${path}.name`, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function validateWebhook(webhook: Fields, path: string): FieldError[] {
  return [
    ...validateClient(fieldsAt(webhook, 'clientConfig'), `${path}.clientConfig`),
    ...oneOf(webhook, 'failurePolicy', ['Fail', 'Ignore'], path),
    ...oneOf(webhook, 'matchPolicy', ['Equivalent', 'Exact'], path),
    ...oneOf(webhook, 'reinvocationPolicy', ['Never', 'IfNeeded'], path),
    ...(webhook['sideEffects'] === undefined
      ? [required(`${path}.sideEffects`, 'must specify one of None, NoneOnDryRun')]
      : oneOf(webhook, 'sideEffects', ['None', 'NoneOnDryRun'], path)),
    ...validateTimeout(webhook, path),
    ...validateVersions(webhook, path),
    ...validateConditions(listAt(webhook, 'matchConditions'), `${path}.matchConditions`),
  ];
}

function validateClient(client: Fields, path: string): FieldError[] {
  const url = client['url'];
  if ((url === undefined) === (client['service'] === undefined))
    return [required(path, 'exactly one of url or service is required')];
  if (url === undefined)
    return ['namespace', 'name']
      .filter((name) => textAt(fieldsAt(client, 'service'), name) === '')
      .map((name) => required(`${path}.service.${name}`));
  const address = URL.parse(scalarText(url));
  if (address?.protocol === 'https:') return [];
  return [
    invalidValue(
      `${path}.url`,
      address?.protocol.replace(':', '') ?? url,
      "'https' is the only allowed URL scheme; desired format: https://host[/path]",
    ),
  ];
}

function validateTimeout(webhook: Fields, path: string): FieldError[] {
  const seconds = numberAt(webhook, 'timeoutSeconds') ?? 1;
  if (seconds >= 1 && seconds <= MAX_TIMEOUT) return [];
  return [
    invalidValue(`${path}.timeoutSeconds`, seconds, `the timeout value must be between 1 and ${MAX_TIMEOUT} seconds`),
  ];
}

function validateVersions(webhook: Fields, path: string): FieldError[] {
  const versions = webhook['admissionReviewVersions'];
  if (!Array.isArray(versions) || versions.length === 0)
    return [required(`${path}.admissionReviewVersions`, 'must specify one of v1, v1beta1')];
  if (versions.includes('v1')) return [];
  return [invalidValue(`${path}.admissionReviewVersions`, versions, 'must include at least one of v1, v1beta1')];
}

function validateConditions(conditions: readonly Fields[], path: string): FieldError[] {
  const all = conditions.flatMap((condition, index) => validateCondition(condition, `${path}[${index}]`));
  return conditions.length > MAX_CONDITIONS ? [tooMany(path, conditions.length, MAX_CONDITIONS), ...all] : all;
}

function validateCondition(condition: Fields, path: string): FieldError[] {
  const missing = ['name', 'expression'].filter((name) => textAt(condition, name) === '');
  if (missing.length > 0) return missing.map((name) => required(`${path}.${name}`));
  const expression = textAt(condition, 'expression');
  const compiled = compileExpression(expression, CONDITION_VARIABLES);
  if (compiled.ok) return [];
  return [invalidValue(`${path}.expression`, expression, `compilation failed: ${compiled.message}`)];
}
