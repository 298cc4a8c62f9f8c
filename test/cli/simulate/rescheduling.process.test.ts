import { describe, expect, test } from 'vitest';
import { makeSnapshot, snapshotJson } from '#cli/snapshot/make-snapshot.ts';
import { createPseudonyms } from '#cli/snapshot/pseudonyms.ts';
import { TAKEN_AT, takenList } from '#test/cli/node-pressures.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

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

/** Without the pod that has no controller. */
const BESIDE = CLUSTER.filter((each) => each !== PODS[8]);
const SHOP = { apiVersion: 'plimsoll.dev/v1alpha1', metadata: { namespace: 'shop', name: 'web' } };

function limit(spec: object): object {
  return { ...SHOP, kind: 'DisruptionLimit', spec: { selector: { matchLabels: { app: 'web' } }, ...spec } };
}

function defaults(entry: object): object {
  return { ...SHOP, kind: 'DisruptionPolicy', metadata: { name: 'default' }, spec: { defaults: [entry] } };
}

/** One pod was removed ten minutes before the snapshot. */
function account(rule: string): object {
  const times = { at: '2026-01-01T11:50:00Z', lapsesAt: '2026-01-01T12:50:00Z' };
  const debit = { uid: 'web-9', pod: 'web-9', component: 'Agent', caller: 'alice', rules: [rule], ...times };
  const metadata = { namespace: 'shop', name: 'plimsoll' };
  return { ...SHOP, kind: 'DisruptionAccount', metadata, status: { debits: [debit] } };
}

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
            `shop/web-${index}   node-1   2 pods of shop/ReplicaSet/web are new, terminating or not yet replaced; at most 2 may be at a time`,
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

  test.each<[string, readonly object[], string, string]>([
    [
      'a DisruptionLimit with what was removed under it',
      [limit({ limits: [{ max: 1, window: '1h' }] }), account('limit/web')],
      'DisruptionLimit shop/web',
      'DisruptionLimit shop/web has 0 disruptions left',
    ],
    [
      'the least pods that a DisruptionLimit keeps up',
      [limit({ minAvailable: 8 })],
      'DisruptionLimit shop/web',
      'DisruptionLimit shop/web has 0 disruptions left',
    ],
    [
      'the default limit of a DisruptionPolicy',
      [defaults({ limits: [{ max: 1, window: '1h' }] }), account('owner/rs-web')],
      'the default limit of shop/ReplicaSet/web',
      'the default limit of shop/ReplicaSet/web has 0 disruptions left',
    ],
  ])('%s holds pods as in a running pass, and is named', async (_, objects, name, text) => {
    const { code, stdout } = await simulate([...BESIDE, EVEN, ...objects]);
    expect(code).toBe(1);
    expect(stdout).toContain(`\n${name}   0      8\n`);
    expect(stdout.split('\n').filter((line) => line.endsWith(text))).toHaveLength(8);
  });

  test('what a limit leaves is moved, and no more', async () => {
    const { code, stdout } = await simulate([...BESIDE, EVEN, limit({ limits: [{ max: 1, window: '1h' }] })]);
    expect({ code, headline: stdout.split('\n')[0] }).toEqual({
      code: 0,
      headline: 'policy even, mode DryRun: 1 move, 8 pods considered',
    });
  });

  test('a redacted snapshot has the same limits, without their names and who asked for removals', async () => {
    const objects = [...BESIDE, EVEN, limit({ limits: [{ max: 1, window: '1h' }] }), account('limit/web')];
    const taken = { manifests: manifestsOf(objects), takenAt: TAKEN_AT };
    const text = snapshotJson(makeSnapshot(taken, createPseudonyms(Buffer.from('a key of these tests'))));
    const { code, stdout } = await runPlimsoll(['simulate', 'rescheduling', '-f', '-'], text);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/\nDisruptionLimit ns-\w+\/limit-\w+ {3}0 {6}8\n/)]);
    expect(text).not.toMatch(/limit\/web|alice|"name":"web/);
  });

  test('kinds that a snapshot could not list are named', async () => {
    const list = JSON.parse(takenList([...BESIDE, EVEN])) as { readonly metadata: { readonly annotations: object } };
    const annotations = { ...list.metadata.annotations, 'plimsoll.dev/snapshot-unread': 'DisruptionLimit,ConfigMap' };
    const { stderr } = await runPlimsoll(
      ['simulate', 'rescheduling', '-f', '-'],
      JSON.stringify({ ...list, metadata: { annotations } }),
    );
    expect(stderr).toContain('limits are not counted: the snapshot is without DisruptionLimit\n');
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
