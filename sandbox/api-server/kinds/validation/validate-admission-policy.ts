import { compileExpression } from '#sandbox/api-server/cel/expression.ts';
import { invalidValue, required, type FieldError } from '#sandbox/api-server/errors/field-error.ts';
import { POLICY_VARIABLES } from '#sandbox/api-server/policies/admission-policy.ts';
import { fieldsAt, listAt, textAt, textsAt, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { oneOf } from './validate-pod.ts';

/** Checks a policy, and that each of its expressions compiles. `pkg/apis/admissionregistration/validation/validation.go`. */
export function validateAdmissionPolicy(policy: KubeObject): FieldError[] {
  const spec = fieldsAt(policy, 'spec');
  const match = fieldsAt(spec, 'matchConstraints');
  return [
    ...oneOf(spec, 'failurePolicy', ['Fail', 'Ignore'], 'spec'),
    ...(listAt(match, 'resourceRules').length === 0 ? [required('spec.matchConstraints.resourceRules')] : []),
    ...['matchConditions', 'variables'].flatMap((list) =>
      listAt(spec, list).flatMap((entry, index) => expressionErrors(entry, 'expression', `spec.${list}[${index}]`)),
    ),
    ...listAt(spec, 'validations').flatMap((entry, index) => validationErrors(entry, `spec.validations[${index}]`)),
  ];
}

function validationErrors(validation: Fields, path: string): FieldError[] {
  const hasMessage = textAt(validation, 'messageExpression') !== '';
  return [
    ...expressionErrors(validation, 'expression', path),
    ...(hasMessage ? expressionErrors(validation, 'messageExpression', path) : []),
    ...oneOf(validation, 'reason', ['Unauthorized', 'Forbidden', 'Invalid', 'RequestEntityTooLarge'], path),
  ];
}

function expressionErrors(entry: Fields, field: string, path: string): FieldError[] {
  const text = textAt(entry, field);
  if (text === '') return [required(`${path}.${field}`)];
  const compiled = compileExpression(text, POLICY_VARIABLES);
  return compiled.ok ? [] : [invalidValue(`${path}.${field}`, text, `compilation failed: ${compiled.message}`)];
}

/** Checks a binding: it names a policy, says what to do, and how to find the params. */
export function validatePolicyBinding(binding: KubeObject): FieldError[] {
  const spec = fieldsAt(binding, 'spec');
  const actions = textsAt(spec, 'validationActions');
  const unknown = actions.filter((action) => !['Deny', 'Warn', 'Audit'].includes(action));
  return [
    ...(textAt(spec, 'policyName') === '' ? [required('spec.policyName')] : []),
    ...(actions.length === 0 ? [required('spec.validationActions')] : []),
    ...unknown.map((action) => invalidValue('spec.validationActions', action, 'expected Deny, Warn or Audit')),
    ...paramRefErrors(spec['paramRef'] === undefined ? undefined : fieldsAt(spec, 'paramRef')),
  ];
}

function paramRefErrors(reference: Fields | undefined): FieldError[] {
  if (reference === undefined) return [];
  const isOne = (textAt(reference, 'name') === '') !== (reference['selector'] === undefined);
  return [
    ...(isOne ? [] : [required('spec.paramRef.name', 'one of name or selector must be specified')]),
    ...(reference['parameterNotFoundAction'] === undefined
      ? [required('spec.paramRef.parameterNotFoundAction')]
      : oneOf(reference, 'parameterNotFoundAction', ['Allow', 'Deny'], 'spec.paramRef')),
  ];
}
