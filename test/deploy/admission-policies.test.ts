import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ACCOUNTS } from '#shared/kube/accounts/accounts.ts';
import { accountPolicies, pressurePolicy } from '#shared/kube/admission/account-policies.ts';
import { rulePolicies } from '#shared/kube/admission/admission-policies.ts';
import { budgetPolicies } from '#shared/kube/admission/budget-policies.ts';
import { defaultPolicy, groupDefaultPolicy, recordPolicy } from '#shared/kube/admission/default-policy.ts';
import { gatePolicy, queuePolicies } from '#shared/kube/admission/queue-policies.ts';

const MANIFESTS = [
  [
    'base/webhook/admission-policies.yaml',
    'admission-policies.ts',
    [...rulePolicies(), ...recordPolicy(), ...budgetPolicies()],
  ],
  [
    'components/api-server-defaults/mutating-policy.yaml',
    'default-policy.ts',
    [...defaultPolicy(), ...groupDefaultPolicy()],
  ],
  ['base/account-policies.yaml', 'account-policies.ts', accountPolicies()],
  [
    'components/controller/admission-policy.yaml',
    'account-policies.ts',
    pressurePolicy(ACCOUNTS.controller, 'controller'),
  ],
  ['components/queues/gate-policy.yaml', 'queue-policies.ts', gatePolicy()],
  ['components/queues/guard-policies.yaml', 'queue-policies.ts', queuePolicies()],
] as const;

test.each(MANIFESTS)('deploy/%s is what the builder of %s gives', async (manifest, builder, objects) => {
  const file = fileURLToPath(new URL(`../../deploy/${manifest}`, import.meta.url));
  const heading = `# From shared/kube/admission/${builder}; made anew by: npx vitest run --project quick test/deploy -u\n`;
  const texts = objects.map((object) => stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 }));
  const formatted = await format(heading + texts.join('---\n'), { ...(await resolveConfig(file)), filepath: file });
  await expect(formatted).toMatchFileSnapshot(file);
});
