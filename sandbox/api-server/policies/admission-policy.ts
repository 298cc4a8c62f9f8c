import { compileExpression, type Expression } from '#sandbox/api-server/cel/expression.ts';
import { selectorOf } from '#sandbox/api-server/selectors/label-query.ts';
import { ruleOf, type Condition, type WebhookRule } from '#sandbox/api-server/webhooks/webhook.ts';
import {
  fieldsAt,
  isFields,
  listAt,
  textAt,
  textsAt,
  type Fields,
  type KubeObject,
} from '#sandbox/api-server/wire/object.ts';
import type { Selector } from '#shared/domain/labels/label-selector.ts';

/** The requests that a policy, or one of its bindings, matches. */
export interface Match {
  readonly rules: readonly WebhookRule[];
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
}

/** A compiled ValidatingAdmissionPolicy. */
export interface AdmissionPolicy {
  readonly name: string;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined;
  readonly match: Match;
  readonly conditions: readonly Condition[];
  readonly variables: readonly Condition[];
  readonly validations: readonly Validation[];
}

export interface Validation {
  readonly text: string;
  readonly expression: Expression;
  readonly message: string;
  readonly messageExpression: Expression | undefined;
  readonly reason: string;
}

/** A stored ValidatingAdmissionPolicyBinding. */
export interface PolicyBinding {
  readonly name: string;
  readonly policyName: string;
  readonly actions: readonly string[];
  readonly paramRef: ParamRef | undefined;
  /** `undefined` for everything that the policy matches. */
  readonly match: Match | undefined;
}

export interface ParamRef {
  readonly name: string;
  readonly namespace: string;
  readonly selector: Selector;
  readonly isDenyIfMissing: boolean;
}

/** The variables of an expression of a policy. */
export const POLICY_VARIABLES = [
  'object',
  'oldObject',
  'request',
  'params',
  'namespaceObject',
  'variables',
  'authorizer',
];

export function admissionPolicyOf(policy: KubeObject): AdmissionPolicy {
  const spec = fieldsAt(policy, 'spec');
  const paramKind = spec['paramKind'];
  return {
    name: policy.metadata.name,
    failurePolicy: textAt(spec, 'failurePolicy') === 'Ignore' ? 'Ignore' : 'Fail',
    paramKind: isFields(paramKind)
      ? { apiVersion: textAt(paramKind, 'apiVersion'), kind: textAt(paramKind, 'kind') }
      : undefined,
    match: matchOf(fieldsAt(spec, 'matchConstraints')),
    conditions: listAt(spec, 'matchConditions').map(namedExpression),
    variables: listAt(spec, 'variables').map(namedExpression),
    validations: listAt(spec, 'validations').map(validationOf),
  };
}

export function policyBindingOf(binding: KubeObject): PolicyBinding {
  const spec = fieldsAt(binding, 'spec');
  const paramRef = spec['paramRef'];
  const match = spec['matchResources'];
  return {
    name: binding.metadata.name,
    policyName: textAt(spec, 'policyName'),
    actions: textsAt(spec, 'validationActions'),
    paramRef: isFields(paramRef) ? paramRefOf(paramRef) : undefined,
    match: isFields(match) ? ofEverything(matchOf(match)) : undefined,
  };
}

const EVERYTHING: WebhookRule = {
  apiGroups: ['*'],
  apiVersions: ['*'],
  operations: ['*'],
  resources: ['*/*'],
  scope: '*',
};

/** A binding without rules leaves the resources to its policy. */
function ofEverything(match: Match): Match {
  return match.rules.length > 0 ? match : { ...match, rules: [EVERYTHING] };
}

function matchOf(match: Fields): Match {
  return {
    rules: listAt(match, 'resourceRules').map(ruleOf),
    namespaceSelector: selectorOf(match['namespaceSelector'] ?? {}),
    objectSelector: selectorOf(match['objectSelector'] ?? {}),
  };
}

function paramRefOf(reference: Fields): ParamRef {
  return {
    name: textAt(reference, 'name'),
    namespace: textAt(reference, 'namespace'),
    selector: selectorOf(reference['selector']),
    isDenyIfMissing: textAt(reference, 'parameterNotFoundAction') === 'Deny',
  };
}

function namedExpression(entry: Fields): Condition {
  return { name: textAt(entry, 'name'), expression: compiled(textAt(entry, 'expression')) };
}

function validationOf(validation: Fields): Validation {
  const messageExpression = textAt(validation, 'messageExpression');
  return {
    text: textAt(validation, 'expression').trim(),
    expression: compiled(textAt(validation, 'expression')),
    message: textAt(validation, 'message').trim(),
    messageExpression: messageExpression === '' ? undefined : compiled(messageExpression),
    reason: textAt(validation, 'reason') || 'Invalid',
  };
}

/** An expression that does not compile is refused on write, so here it means a broken store. */
function compiled(text: string): Expression {
  const result = compileExpression(text, POLICY_VARIABLES);
  if (result.ok) return result.expression;
  const fail = (): never => {
    throw new Error(result.message);
  };
  return { evaluate: fail };
}
