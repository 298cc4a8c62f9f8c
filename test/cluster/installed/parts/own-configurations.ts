import { expect, test } from 'vitest';
import { WEBHOOK } from '#test/cluster/support/accounts.ts';
import { at } from '#test/contract/harness.ts';
import type { InstalledCluster } from '#test/cluster/installed/support/installed-cluster.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';
const EVERYTHING = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] };

/** Registers a test on what the right to keep the authority current brings with it (docs/contributing/threats.md, T-50). */
export function ownConfigurations({ clientOf }: InstalledCluster): void {
  test('the webhook may change its two configurations as a whole, and no others', async () => {
    const client = await clientOf(WEBHOOK);
    const widen = (path: string) =>
      client.request({
        method: 'PATCH',
        path: `${CONFIGURATIONS}/${path}`,
        query: { dryRun: 'All' },
        contentType: 'application/json-patch+json',
        body: [{ op: 'add', path: '/webhooks/0/rules/-', value: EVERYTHING }],
      });
    for (const kind of ['mutating', 'validating']) {
      const own = await widen(`${kind}webhookconfigurations/plimsoll`);
      expect([own.kind, at(own, 'object.webhooks.0.rules.1')]).toEqual(['ok', { ...EVERYTHING, scope: '*' }]);
      expect((await widen(`${kind}webhookconfigurations/others`)).kind).toBe('forbidden');
    }
  });
}
