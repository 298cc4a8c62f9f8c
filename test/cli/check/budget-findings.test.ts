import { expect, test } from 'vitest';
import { checkCluster } from '#cli/check/check-cluster.ts';
import { TAKEN_AT } from '#test/cli/node-pressures.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

function budget(name: string, spec: object) {
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { namespace: 'shop', name }, spec };
}

test('plimsoll check shows the budgets that forbid every eviction (S3-17)', () => {
  const objects = [
    budget('none', { maxUnavailable: 0 }),
    budget('one', { maxUnavailable: 1 }),
    budget('all', { minAvailable: '100%' }),
  ];
  const read = { manifests: manifestsOf(objects), now: Date.parse(TAKEN_AT), namespace: 'default' };
  const found = checkCluster(read, '1.0.0').filter(({ subject }) => subject === 'budgets');
  expect(found.map(({ level, text }) => `${level}: ${text}`)).toEqual([
    'Warning: these PodDisruptionBudgets forbid every eviction, so drains never finish: shop/none, shop/all',
  ]);
});
