import { describe, expect, test } from 'vitest';
import { takenList } from './node-pressures.ts';
import { runPlimsoll } from './run-plimsoll.ts';

const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-web', controller: true };
const NODES = ['node-1', 'node-2'].map((name) => ({
  apiVersion: 'v1',
  kind: 'Node',
  spec: {},
  metadata: { name, uid: name, labels: { 'kubernetes.io/hostname': name } },
  status: { allocatable: { cpu: '10', memory: '20Gi', pods: '110' } },
}));

function pod(index: number, owners: readonly object[] = [OWNER]): object {
  const name = `web-${index}`;
  const resources = { requests: { cpu: '1', memory: '1Gi' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name, uid: name, labels: { app: 'web' }, ownerReferences: owners },
    spec: { nodeName: 'node-1', priority: 0, containers: [{ name: 'main', resources }] },
    status: { phase: 'Running', startTime: '2026-01-01T08:00:00Z', conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

const PODS = Array.from({ length: 9 }, (_, index) => (index === 8 ? pod(index, []) : pod(index)));
const UNDERUSED = { underused: { low: { cpu: 45 }, target: { cpu: 65 } }, aggressiveness: 'High' };

function policy(name: string, spec: object, status: object = {}): object {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'ReschedulingPolicy', metadata: { name }, spec, status };
}

/** The lines about rescheduling. */
async function rescheduling(name: string, ...policies: readonly object[]): Promise<readonly string[]> {
  const input = takenList([...NODES, ...PODS, ...policies]);
  const { code, stdout } = await runPlimsoll(['explain', 'pod', `shop/${name}`, '-o', 'json', '-f', '-'], input);
  expect(code).toBe(0);
  const { rescheduling: lines } = JSON.parse(stdout) as { readonly rescheduling?: readonly string[] };
  return lines ?? ['none'];
}

describe('plimsoll explain pod says of each ReschedulingPolicy', () => {
  test.each<[string, string, string]>([
    [
      'where it would move the pod, and why',
      'web-0',
      'even (DryRun) would move it to node node-2: node node-1 is at 90.0% of cpu by requests, above its target of 65%',
    ],
    [
      'why the pass leaves it',
      'web-5',
      'even (DryRun) leaves it where it is: 2 pods of shop/ReplicaSet/web are new, terminating or not yet replaced; at most 2 may be at a time',
    ],
    [
      'why it is never moved',
      'web-8',
      'even (DryRun) leaves it where it is: the pod has no controller that would replace it',
    ],
  ])('%s', async (_, name, line) => {
    expect(await rescheduling(name, policy('even', UNDERUSED))).toEqual([line]);
  });

  test('that no policy has a reason to move it', async () => {
    expect(await rescheduling('web-0', policy('rules', { affinity: { required: true } }))).toEqual([
      'rules (DryRun) leaves it where it is: no policy has a reason to move it',
    ]);
  });

  test('what only its status knows: why it was moved, and that its owner is left alone', async () => {
    const moved = { pod: 'shop/web-0', uid: 'web-0', node: 'node-1', decision: 'd', at: '2026-01-01T08:59:00Z' };
    const evicted = [{ ...moved, code: 'BadServiceVictim', because: 'victim on node node-1: the pod restarted' }];
    const until = '2026-01-02T08:00:00Z';
    const stopped = [{ owner: 'shop/ReplicaSet/web', until, text: 'kube-scheduler returned 2 of its pods to node-1' }];
    const enforced = { ...UNDERUSED, mode: 'Enforce' };
    const policies = [policy('a', enforced, { evicted }), policy('b', enforced, { stopped })];
    expect(await rescheduling('web-0', ...policies)).toEqual([
      'a (Enforce) moved it at 2026-01-01T08:59:00.000Z: victim on node node-1: the pod restarted',
      'b (Enforce) leaves its owner alone until 2026-01-02T08:00:00.000Z: kube-scheduler returned 2 of its pods to node-1',
    ]);
  });

  test('nothing where there is none', async () => {
    expect(await rescheduling('web-0')).toEqual(['none']);
  });
});
