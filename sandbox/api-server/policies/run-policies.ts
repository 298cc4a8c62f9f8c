import type { Attributes } from '#sandbox/api-server/admission.ts';
import type { Catalog } from '#sandbox/api-server/catalog/catalog.ts';
import { AuthorizerValue, celValue } from '#sandbox/api-server/cel/expression.ts';
import { forbidden } from '#sandbox/api-server/errors/errors.ts';
import { statusError, type StatusError } from '#sandbox/api-server/errors/status-error.ts';
import { NAMESPACES } from '#sandbox/api-server/storage-names.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import { reviewRequest } from '#sandbox/api-server/webhooks/review-outcome.ts';
import { isWanted } from '#sandbox/api-server/webhooks/match-webhook.ts';
import { omit, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import {
  type AdmissionPolicy,
  type Match,
  type PolicyBinding,
  admissionPolicyOf,
  policyBindingOf,
} from './admission-policy.ts';
import { evaluatePolicy, type Activation, type Fault } from './evaluate-policy.ts';

export interface PolicyPorts {
  readonly policies: () => readonly BoundPolicy[];
  readonly store: Store;
  readonly catalog: Catalog;
}

/**
 * Evaluates the ValidatingAdmissionPolicies of the cluster: sends warnings; the first refusal is the answer. Throws a
 * StatusError. apiserver `pkg/admission/plugin/policy/validating/dispatcher.go`.
 */
export function runPolicies(ports: PolicyPorts, attributes: Attributes): void {
  const labels = namespaceOf(ports.store, attributes)?.metadata.labels ?? {};
  const isAbout = (match: Match): boolean => isWanted(match, attributes, new Map(Object.entries(labels)));
  const refusals = ports.policies().flatMap(({ policy, bindings }) => {
    if (!isAbout(policy.match)) return [];
    const bound = bindings.filter(({ match }) => match === undefined || isAbout(match));
    return bound.flatMap((binding) => refusalsOf(ports, attributes, { policy, binding }));
  });
  const [first] = refusals;
  if (first !== undefined) throw first;
}

interface Bound {
  readonly policy: AdmissionPolicy;
  readonly binding: PolicyBinding;
}

function refusalsOf(ports: PolicyPorts, attributes: Attributes, bound: Bound): readonly StatusError[] {
  const { policy, binding } = bound;
  const params = paramsOf(ports, attributes, bound);
  const faults =
    typeof params === 'string'
      ? [{ kind: 'failed', message: params, reason: 'Invalid' } as const]
      : params.flatMap((param) => evaluatePolicy(policy, activationOf(ports.store, attributes, param)));
  const counting = faults.filter(({ kind }) => kind === 'denied' || policy.failurePolicy === 'Fail');
  for (const { message } of binding.actions.includes('Warn') ? counting : []) {
    attributes.warn(
      `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
    );
  }
  return binding.actions.includes('Deny') ? counting.map((fault) => refusal(attributes, bound, fault)) : [];
}

/** Every params object to evaluate with, `undefined` for a policy without params; or why there is none. */
function paramsOf(
  { store, catalog }: PolicyPorts,
  { namespace }: Attributes,
  { policy: { paramKind }, binding: { paramRef } }: Bound,
): readonly (KubeObject | undefined)[] | string {
  if (paramKind === undefined) return [undefined];
  const { apiVersion, kind } = paramKind;
  const type = catalog.findKind(apiVersion, kind);
  if (type === undefined) {
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    return `failed to configure policy: failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`;
  }
  if (paramRef === undefined) return [undefined];
  const place = type.namespaced ? paramRef.namespace || namespace : undefined;
  const found = store
    .collection(type.storage)
    .values()
    .map(({ object }) => object)
    .filter(({ metadata }) => metadata.namespace === place)
    .filter(({ metadata }) =>
      paramRef.name === ''
        ? paramRef.selector.matches(new Map(Object.entries(metadata.labels ?? {})))
        : metadata.name === paramRef.name,
    );
  return found.length === 0 && paramRef.isDenyIfMissing
    ? 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'
    : found;
}

function activationOf(store: Store, attributes: Attributes, params: KubeObject | undefined): Activation {
  const { object, oldObject, ...request } = reviewRequest(attributes);
  return {
    object: celValue(object),
    oldObject: celValue(oldObject),
    request: celValue(omit(request, 'uid')),
    params: celValue(params),
    namespaceObject: celValue(namespaceOf(store, attributes)),
    authorizer: new AuthorizerValue(),
  };
}

function namespaceOf(store: Store, { namespace }: Attributes): KubeObject | undefined {
  return namespace === '' ? undefined : store.collection(NAMESPACES).get(namespace)?.object;
}

const CODES: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 };
const CODE_OF_OTHERS = 422;

function refusal({ type, name, object }: Attributes, { policy, binding }: Bound, fault: Fault): StatusError {
  const message = `ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}' denied request: ${fault.message}`;
  const { status } = forbidden(type, name || (object?.metadata.generateName ?? ''), message);
  const { reason } = fault;
  const details = { ...status.details, causes: [{ reason: '', message }] };
  return statusError({ code: CODES[reason] ?? CODE_OF_OTHERS, reason, message: status.message, details });
}

/** A policy with its bindings; a policy without a binding has no effect. */
export interface BoundPolicy {
  readonly policy: AdmissionPolicy;
  readonly bindings: readonly PolicyBinding[];
}

const GROUP = 'admissionregistration.k8s.io';

/** Follows the stored policies and bindings, by name; a change counts for the next request. */
export function policyRegistry(store: Store): () => readonly BoundPolicy[] {
  const policies = store.collection(`validatingadmissionpolicies.${GROUP}`);
  const bindings = store.collection(`validatingadmissionpolicybindings.${GROUP}`);
  let bound: readonly BoundPolicy[] | undefined;
  for (const collection of [policies, bindings]) {
    collection.onChange(() => {
      bound = undefined;
    });
  }
  return () => {
    bound ??= bind(
      policies.values().map(({ object }) => admissionPolicyOf(object)),
      bindings.values().map(({ object }) => policyBindingOf(object)),
    );
    return bound;
  };
}

function bind(policies: readonly AdmissionPolicy[], bindings: readonly PolicyBinding[]): readonly BoundPolicy[] {
  return policies
    .map((policy) => ({ policy, bindings: bindings.filter(({ policyName }) => policyName === policy.name) }))
    .filter((each) => each.bindings.length > 0);
}
