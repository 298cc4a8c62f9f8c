import { expect, test } from 'vitest';
import { NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/quantity.ts';
import type { Change } from '#shared/kube/reflector/reflector.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { type CachedQuota, exportQuotas } from '#webhook/cluster-state/caches.ts';
import { amountsOf } from '#test/build/cluster.ts';

test('exports limits and usage of each PriorityQuota, and nothing that is gone', async () => {
  const metrics = createMetrics('test');
  let change: (change: Change<CachedQuota>) => void = () => undefined;
  exportQuotas({ onChange: (listener) => ((change = listener), () => undefined) }, metrics);
  const series = async () => (await metrics.text()).split('\n').filter((line) => line.startsWith('plimsoll_quota_'));
  const tell = (kind: Change<CachedQuota>['kind'], hard: Amounts, used: Amounts) =>
    change({ kind, key: 'critical', value: { name: 'critical', hard, used } as CachedQuota });

  tell('added', amountsOf({ 'requests.memory': '1Gi', pods: '10' }), NO_AMOUNTS);
  expect(await series()).toEqual([
    'plimsoll_quota_hard{quota="critical",resource="requests.memory"} 1073741824',
    'plimsoll_quota_hard{quota="critical",resource="pods"} 10',
  ]);
  tell('modified', amountsOf({ 'requests.cpu': '1500m' }), amountsOf({ 'requests.cpu': '250m' }));
  expect(await series()).toEqual([
    'plimsoll_quota_used{quota="critical",resource="requests.cpu"} 0.25',
    'plimsoll_quota_hard{quota="critical",resource="requests.cpu"} 1.5',
  ]);
  tell('deleted', amountsOf({ 'requests.cpu': '1500m' }), amountsOf({ 'requests.cpu': '250m' }));
  expect(await series()).toEqual([]);
});
