import type { Store } from '#sandbox/api-server/storage/store.ts';
import { admissionPolicyOf, policyBindingOf, type AdmissionPolicy, type PolicyBinding } from './admission-policy.ts';

/** A policy with what binds it; one without a binding does nothing. */
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
