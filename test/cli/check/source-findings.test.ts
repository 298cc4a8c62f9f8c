import { expect, test } from 'vitest';
import { checkCluster } from '#cli/check/check-cluster.ts';
import { TAKEN_AT } from '#test/cli/node-pressures.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

const NOW = Date.parse(TAKEN_AT);

function sourcesReport(name: string, conditions: readonly object[], observedAt = TAKEN_AT): object {
  const status = { observedAt, conditions };
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name }, status };
}

test.each([
  ['SourcesDisagree', 'False', 'Error', 'memory figures contradict each other, so no pod is evicted for memory on'],
  ['PodsDisagree', 'False', 'Warning', 'memory figures of pods contradict each other on'],
  ['KernelUnreadable', 'Unknown', 'Warning', "the agent fell back to the kubelet's figures on"],
  ['PodsUnreadable', 'Unknown', 'Warning', "the agent fell back to the kubelet's figures on"],
  ['SourcesNotComparable', 'Unknown', 'Warning', 'memory figures cannot be compared on'],
])('the nodes whose sources say %s are named, with the first reason', (reason, status, level, text) => {
  const doubtful = (message: string) => [{ type: 'SourcesAgree', status, reason, message }];
  const agreed = [{ type: 'SourcesAgree', status: 'True', reason: 'NoDisagreement', message: '' }];
  const manifests = manifestsOf([
    sourcesReport('n1', agreed),
    sourcesReport('n2', doubtful('kubelet: 1')),
    sourcesReport('n3', doubtful('kubelet: 2')),
    sourcesReport('silent', doubtful('kubelet: 3'), '2026-01-01T11:00:00Z'),
  ]);
  const found = checkCluster({ manifests, now: NOW, namespace: 'default' }, '1.0.0');
  expect(found.filter(({ subject }) => subject === 'sources')).toMatchObject([
    { level, text: `${text} n2, n3 (n2: kubelet: 1)` },
  ]);
});
