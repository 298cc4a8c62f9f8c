import { expect, test } from 'vitest';
import { agentFindings, selectedByAgents } from '#cli/check/component-findings.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import { buildNode } from '#test/build/cluster.ts';

/** The DaemonSet of the agents with this in the spec of its pods. */
function agents(pod: object, name = 'plimsoll-agent'): Manifest {
  const spec = { template: { spec: { containers: [{ name: 'agent' }], ...pod } } };
  const raw = { metadata: { name, namespace: 'plimsoll-node' }, spec };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', raw, where: 'cluster' };
}

const LINUX = buildNode({ name: 'linux', labels: { os: 'linux', pool: 'a' } });
const WINDOWS = buildNode({ name: 'windows', labels: { os: 'windows', pool: 'b' } });

function missing(...manifests: readonly Manifest[]): readonly string[] {
  const found = agentFindings({ nodes: [LINUX, WINDOWS], pressures: [] }, 0, selectedByAgents(manifests));
  return found.map(({ level, text }) => `${level} ${text}`);
}

const IN_POOL_A = {
  nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['a'] }] }],
};

test.each<[string, readonly Manifest[], string]>([
  ['its node selector', [agents({ nodeSelector: { os: 'linux' } })], 'linux'],
  [
    'its affinity',
    [agents({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: IN_POOL_A } } })],
    'linux',
  ],
  ['nothing', [agents({})], 'linux, windows'],
  ['another DaemonSet', [agents({ nodeSelector: { os: 'linux' } }, 'other')], 'linux, windows'],
  ['a DaemonSet that cannot be read', [], 'linux, windows'],
])('a node that %s leaves out needs no agent', (_, manifests, nodes) => {
  expect(missing(...manifests)).toEqual([`Error no agent has reported from ${nodes}`]);
});

test('no node that the DaemonSet selects, no error', () => {
  expect(missing(agents({ nodeSelector: { os: 'other' } }))).toEqual([]);
});
