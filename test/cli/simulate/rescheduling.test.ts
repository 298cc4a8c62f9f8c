import { describe, expect, test } from 'vitest';
import { takenList } from '#test/cli/node-pressures.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';

function node(name: string, spec: object = {}): object {
  const labels = { 'kubernetes.io/hostname': name };
  const status = { allocatable: { cpu: '10', memory: '20Gi', pods: '110' } };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name, labels }, spec, status };
}

function pod(index: number, owners: readonly object[]): object {
  const name = `web-${index}`;
  const resources = { requests: { cpu: '1', memory: '1Gi' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'shop', name, uid: name, labels: { app: 'web' }, ownerReferences: owners },
    spec: { nodeName: 'node-1', priority: 0, containers: [{ name: 'main', resources }] },
    status: {
      phase: 'Running',
      startTime: '2026-01-01T08:00:00Z',
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}

const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-web', controller: true };
const PODS = Array.from({ length: 9 }, (_, index) => pod(index, index === 8 ? [] : [OWNER]));
const CLUSTER = [node('node-1'), node('node-2'), node('node-3', { unschedulable: true }), ...PODS];

function policy(name: string, spec: object): object {
  return { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'ReschedulingPolicy', metadata: { name }, spec };
}

const EVEN = policy('even', { underused: { low: { cpu: 45 }, target: { cpu: 65 } }, aggressiveness: 'High' });

const simulate = (objects: readonly object[], ...args: readonly string[]) =>
  runPlimsoll(['simulate', 'rescheduling', '-f', '-', ...args], takenList(objects));

interface Answer {
  readonly moves: readonly { readonly pod: string; readonly expectedOn: string; readonly gain: number }[];
  readonly stays: readonly { readonly pod: string; readonly because: { readonly code: string } }[];
  readonly unevenness: { readonly before: number; readonly after: number };
}

describe('plimsoll simulate rescheduling', () => {
  test('prints the pass, its moves, the load before and after, and why the other pods stay', async () => {
    const { code, stdout, stderr } = await simulate([...CLUSTER, EVEN]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: [
        'policy even, mode DryRun: 2 moves, 9 pods considered',
        '  sum of squared loads: 101.25 points before, 66.25 after',
        '',
        'MOVE         FROM     EXPECTED ON   GAIN    WHY',
        'shop/web-0   node-1   node-2        16.00   node node-1 is at 90.0% of cpu by requests, above its target of 65%',
        'shop/web-1   node-1   node-2        12.00   node node-1 is at 90.0% of cpu by requests, above its target of 65%',
        '',
        'STILL OVER TARGET   LOAD                                                                  WHY ITS PODS STAY',
        'node-1              node node-1 is at 70.0% of cpu by requests, above its target of 65%   6 OwnerWindow',
        '',
        'STAY          PODS',
        'OwnerWindow   6',
        '',
        'POD          NODE     WHY IT STAYS',
        ...[2, 3, 4, 5, 6, 7].map(
          (index) =>
            `shop/web-${index}   node-1   2 pods of shop/ReplicaSet/web are new, terminating or not yet replaced; 2 may be at a time`,
        ),
        '',
      ].join('\n'),
    });
    expect(stderr).toContain('Note: ');
  });

  test('for programs: the moves with their gains, none of a pod without a controller, none to a closed node', async () => {
    const { code, stdout } = await simulate([...CLUSTER, EVEN], '-o', 'json');
    const { moves, unevenness } = JSON.parse(stdout) as Answer;
    expect(code).toBe(0);
    expect(moves.map(({ pod: name, expectedOn }) => [name, expectedOn])).toEqual([
      ['shop/web-0', 'node-2'],
      ['shop/web-1', 'node-2'],
    ]);
    expect(unevenness.before - unevenness.after).toBeGreaterThan(0);
  });

  test('without a policy, with one that is built in; an even cluster has nothing to move', async () => {
    const { code, stdout, stderr } = await simulate([node('node-1'), node('node-2'), pod(0, [OWNER])]);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: [
        'policy built-in, mode DryRun: 0 moves, 0 pods considered',
        '  sum of squared loads: 1.25 points before, 1.25 after',
        '',
      ].join('\n'),
    });
    expect(stderr).toContain('no ReschedulingPolicy is among the objects');
  });

  test.each<[string, readonly object[], readonly string[], string]>([
    [
      'a policy that is not there',
      [...CLUSTER, EVEN],
      ['--policy', 'odd'],
      'ReschedulingPolicy odd not found; there are even',
    ],
    ['several policies', [...CLUSTER, EVEN, policy('odd', {})], [], 'choose one with --policy: even, odd'],
    [
      'a policy that cannot be read',
      [...CLUSTER, policy('odd', { aggressiveness: 'Reckless' })],
      [],
      'spec.aggressiveness: expected Low or Medium or High, got "Reckless"',
    ],
  ])('%s is an error, exit code 2', async (_, objects, args, sentence) => {
    const { code, stderr } = await simulate(objects, ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  });
});
