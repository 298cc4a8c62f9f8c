import { describe, expect, test } from 'vitest';
import { checkCluster } from '#cli/check/check-cluster.ts';
import { EXAMPLE_CLUSTER } from '#test/cli/example-cluster.ts';
import { TAKEN_AT } from '#test/cli/node-pressures.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

const NOW = Date.parse(TAKEN_AT);

describe('quotas and what the nodes have (S3-12)', () => {
  const nodes = EXAMPLE_CLUSTER.filter((each) => 'kind' in each && each.kind === 'Node');
  const priorityClass = (name: string, value: number) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
  });
  const quota = (name: string, className: string, hard: object) => ({
    apiVersion: 'plimsoll.dev/v1alpha1',
    kind: 'PriorityQuota',
    metadata: { name },
    spec: { priorityClassNames: [className], hard },
  });
  const resourceQuota = (namespace: string, className: string, hard: object) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { namespace, name: 'by-class' },
    status: { hard, used: {} },
    spec: {
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: [className] }] },
    },
  });

  function aboutQuotas(...objects: readonly object[]) {
    const classes = [priorityClass('high', 100), priorityClass('low', 1)];
    const read = { manifests: manifestsOf([...nodes, ...classes, ...objects]), now: NOW, namespace: 'default' };
    const findings = checkCluster(read, '1.0.0').filter(({ subject }) => subject === 'quotas');
    return findings.map(({ level, text }) => `${level}: ${text}`);
  }

  test('without a quota by priority nothing is said', () => {
    expect(aboutQuotas()).toEqual([]);
  });

  test('without those of our own namespaces, which only let our pods have a critical class', () => {
    const own = ['plimsoll-node', 'plimsoll-system'].map((each) => resourceQuota(each, 'high', { pods: '5k' }));
    expect(aboutQuotas(...own)).toEqual([]);
  });

  test('quotas of the highest priority above the nodes, whichever kind they are', () => {
    const objects = [quota('gold', 'high', { 'requests.cpu': '1k' }), resourceQuota('team-a', 'high', { cpu: '1k' })];
    expect(aboutQuotas(...objects, quota('bronze', 'low', { cpu: '1' }))).toEqual([
      expect.stringMatching(
        /^Warning: quotas of the highest priority allow 2k of cpu in total; the nodes have \d+ \(PriorityQuota gold, ResourceQuota team-a\/by-class\)$/,
      ),
    ]);
  });

  test('lower ones only overcommit, which is in order', () => {
    expect(aboutQuotas(quota('gold', 'high', { cpu: '1' }), quota('bronze', 'low', { cpu: '1k' }))).toEqual([
      expect.stringMatching(
        /^OK: overcommitted: quotas of all priorities allow 1001 of cpu in total; the nodes have \d+$/,
      ),
    ]);
    expect(aboutQuotas(quota('gold', 'high', { cpu: '1' }))).toEqual([
      'OK: the nodes have what the quotas by priority (1) allow in total',
    ]);
  });
});
