import { describe, expect, test } from 'vitest';
import { type Account, AGENT, WEBHOOK } from '#test/cluster/support/accounts.ts';
import { type Attempt, mayDo } from '#test/cluster/installed/support/attempt.ts';
import type { InstalledCluster } from '#test/cluster/installed/support/installed-cluster.ts';
import { rightsOf } from '#test/cluster/installed/support/rights-of.ts';

const ACCOUNTS: readonly (readonly [string, Account])[] = [
  ['agent', AGENT],
  ['webhook', WEBHOOK],
];

/** C-11: what no account of ours may do, in the shape `VERB RESOURCE[.GROUP][/SUBRESOURCE]`. */
const FORBIDDEN = [
  'create pods',
  'patch pods',
  'delete pods',
  'deletecollection pods',
  'create pods/binding',
  'create pods/exec',
  'patch pods/ephemeralcontainers',
  'patch nodes',
  'delete nodes',
  'patch nodes/status',
  'get nodes/proxy',
  'create nodes/proxy',
  'get secrets',
  'list secrets',
  'patch configmaps',
  'create serviceaccounts/token',
  'impersonate users',
  'impersonate groups',
  'impersonate serviceaccounts',
  'escalate clusterroles.rbac.authorization.k8s.io',
  'bind clusterroles.rbac.authorization.k8s.io',
  'create rolebindings.rbac.authorization.k8s.io',
  'create validatingwebhookconfigurations.admissionregistration.k8s.io',
  'delete validatingwebhookconfigurations.admissionregistration.k8s.io',
  'patch validatingadmissionpolicies.admissionregistration.k8s.io',
  'create priorityclasses.scheduling.k8s.io',
  'patch leases.coordination.k8s.io',
] as const;

/** Registers tests on what the installation lets our accounts do. */
export function accountRights({ own, clientOf }: InstalledCluster): void {
  describe.each(ACCOUNTS)('the rights of the %s', (name, account) => {
    // Some ten thousand questions, and a busy machine answers a few hundred in a second.
    test('are those of the golden list, on everything that the API server serves', { timeout: 180_000 }, async () => {
      const rights = await rightsOf(own(), account, ['default', account.namespace]);
      await expect(rights).toMatchFileSnapshot(`golden/rights-of-${name}.txt`);
    });

    test('leave out whatever could harm a cluster', async () => {
      const client = await clientOf(account);
      const allowed = await Promise.all(
        FORBIDDEN.map(async (text) => ((await mayDo(client, attempt(text))) ? [text] : [])),
      );
      expect(allowed.flat()).toEqual([]);
    });
  });
}

/** `VERB RESOURCE[.GROUP][/SUBRESOURCE]` in the namespace default. */
function attempt(text: string): Attempt {
  const [verb = '', thing = ''] = text.split(' ');
  const [qualified = '', subresource = ''] = thing.split('/');
  const [resource = '', ...group] = qualified.split('.');
  return { verb, resource, group: group.join('.'), subresource, namespace: 'default', name: '' };
}
