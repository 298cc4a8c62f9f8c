import { stringify } from 'yaml';
import { ACCOUNTS } from '#shared/kube/accounts/accounts.ts';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { defaultPolicy, groupDefaultPolicy } from '#shared/kube/admission/default-policy.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { accountPolicies, pressurePolicy } from './account-policies.ts';
import { budgetPolicies } from './budget-policies.ts';
import { namespacePolicy } from './namespace-policy.ts';
import { gatePolicy, queuePolicies } from './queue-policies.ts';
import { recordPolicy } from './record-policy.ts';

const RULES = 'shared/kube/admission/admission-policies.ts';
const DEFAULTS = 'shared/kube/admission/default-policy.ts';
const OF_ACCOUNTS = 'tools/policies/account-policies.ts';
const OF_QUEUES = 'tools/policies/queue-policies.ts';

/** The admission policies in deploy/ that are built here, each file with where to change it. */
export function policyArtifacts() {
  return [
    file('base/webhook/admission-policies', RULES, [...rulePolicies(), ...recordPolicy(), ...budgetPolicies()]),
    file('components/api-server-defaults/mutating-policy', DEFAULTS, [...defaultPolicy(), ...groupDefaultPolicy()]),
    file('base/namespace-labels', 'tools/policies/namespace-policy.ts', namespacePolicy()),
    file('base/account-policies', OF_ACCOUNTS, accountPolicies()),
    file('components/controller/admission-policy', OF_ACCOUNTS, pressurePolicy(ACCOUNTS.controller, 'controller')),
    file('components/queues/gate-policy', OF_QUEUES, gatePolicy()),
    file('components/queues/guard-policies', OF_QUEUES, queuePolicies()),
  ];
}

function file(path: string, source: string, objects: readonly KubeObject[]) {
  const heading = `# From ${source}; made anew by: npm run generate\n`;
  const texts = objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }));
  return { path: `deploy/${path}.yaml`, text: heading + texts.join('---\n') };
}
