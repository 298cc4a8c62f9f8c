import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { CelVariable, MatchCondition } from '#shared/kube/admission/cel-expressions.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';
const BINDING = 'ValidatingAdmissionPolicyBinding';

export interface Validation {
  readonly expression: string;
  readonly [said: string]: string;
}

/** The object with which a policy is evaluated, as `params`; without one it is not evaluated. */
interface Params {
  readonly paramKind: object;
  /** Absent for every object of the kind, with each of which the policy is evaluated. */
  readonly name?: string;
}

export interface Validating {
  readonly name: string;
  /** Who installs it, for the labels. */
  readonly component?: string;
  readonly failurePolicy: 'Fail' | 'Ignore';
  /** All namespaces by default. */
  readonly namespaceSelector?: object;
  /** All objects by default. */
  readonly objectSelector?: object;
  readonly resourceRules: readonly object[];
  readonly params?: Params;
  readonly matchConditions: readonly MatchCondition[];
  readonly variables?: readonly CelVariable[];
  readonly validations: readonly Validation[];
}

/** A binding of a policy, for everything that the policy matches or for a part of it. */
export interface Bound {
  readonly name: string;
  readonly matchResources?: object;
}

/** A ValidatingAdmissionPolicy, and its bindings; by default one for everything that it matches. */
export function boundPolicy(
  policy: Validating,
  action: 'Deny' | 'Warn' = 'Deny',
  bound: readonly Bound[] = [{ name: policy.name }],
): readonly KubeObject[] {
  const { params, name } = policy;
  const chosen = params?.name === undefined ? { selector: {} } : { name: params.name };
  const paramRef = params && { ...chosen, parameterNotFoundAction: 'Allow' };
  const shared = { policyName: name, ...(paramRef && { paramRef }), validationActions: [action] };
  return [validatingPolicy(policy), ...bound.map((each) => bindingOf(policy, { ...each, ...shared }))];
}

/** The policy alone. Includes defaults of the API server, so that another manager may apply it without a conflict. */
export function validatingPolicy({
  name,
  component,
  failurePolicy,
  namespaceSelector = {},
  objectSelector = {},
  resourceRules,
  params,
  validations,
  ...rest
}: Validating): KubeObject {
  return {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, labels: labelsOf(component) },
    spec: {
      failurePolicy,
      ...(params && { paramKind: params.paramKind }),
      matchConstraints: { namespaceSelector, objectSelector, resourceRules, matchPolicy: 'Equivalent' },
      ...rest,
      validations: validations.map((each) => ({ ...each, reason: 'Forbidden' })),
    },
  };
}

/** A binding with a name of its own. */
export function bindingOf(
  { component }: Pick<Validating, 'component'>,
  { name, ...spec }: { readonly name: string; readonly [field: string]: unknown },
): KubeObject {
  return { apiVersion, kind: BINDING, metadata: { name, labels: labelsOf(component) }, spec };
}

/** Common to the policies of a component and their bindings. */
export function labelsOf(component: string | undefined): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'plimsoll',
    ...(component !== undefined && { 'app.kubernetes.io/component': component }),
    'app.kubernetes.io/part-of': 'plimsoll',
  };
}
