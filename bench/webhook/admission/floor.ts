import type { KubeClient } from '#shared/kube/client/client.ts';
import { CLASS } from './create-pod.ts';
import { ask, REGISTRATION } from './prepare.ts';
import { LABEL_FLOOR } from './variants.ts';

const NAME = 'floor.bench.plimsoll.dev';

const MATCH_CONSTRAINTS = {
  namespaceSelector: { matchExpressions: [{ key: LABEL_FLOOR, operator: 'Exists' }] },
  resourceRules: [
    { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'], scope: 'Namespaced' },
  ],
};

const CONSTANT_PATCH = Object.entries({
  priorityClassName: `"${CLASS}"`,
  priority: '1000',
  preemptionPolicy: '"PreemptLowerPriority"',
})
  .map(([field, value]) => `JSONPatch{op: "add", path: "/spec/${field}", value: ${value}}`)
  .join(', ');

const MUTATING = {
  failurePolicy: 'Ignore',
  reinvocationPolicy: 'IfNeeded',
  matchConstraints: MATCH_CONSTRAINTS,
  mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: `[${CONSTANT_PATCH}]` } }],
};

const VALIDATING = {
  failurePolicy: 'Ignore',
  matchConstraints: MATCH_CONSTRAINTS,
  validations: [{ expression: 'true' }],
};

/**
 * Adds the cheapest two policies with which the API server gives a pod a class and judges it: one writes constants, one
 * says `true`. What they add is the least that any rules can add.
 */
export async function addFloor(client: KubeClient): Promise<void> {
  const metadata = { name: NAME };
  const binding = { policyName: NAME };
  await ask(client, 'POST', `${REGISTRATION}/mutatingadmissionpolicies`, { metadata, spec: MUTATING });
  await ask(client, 'POST', `${REGISTRATION}/mutatingadmissionpolicybindings`, { metadata, spec: binding });
  await ask(client, 'POST', `${REGISTRATION}/validatingadmissionpolicies`, { metadata, spec: VALIDATING });
  const denying = { ...binding, validationActions: ['Deny'] };
  await ask(client, 'POST', `${REGISTRATION}/validatingadmissionpolicybindings`, { metadata, spec: denying });
}
