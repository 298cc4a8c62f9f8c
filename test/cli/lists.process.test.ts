import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, inject, test } from 'vitest';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURES, NODES } from '#shared/kube/resource.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { untilAnswer } from '#test/build/waiting.ts';
import { EXAMPLE_CLUSTER } from './example-cluster.ts';
import { NODE_PRESSURES as REPORTS, takenList } from './node-pressures.ts';
import { itemsIn, runPlimsoll } from './run-plimsoll.ts';
import { sandboxCluster } from './sandbox-cluster.ts';

const NODE_LABELS = [
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', labels: { pool: 'batch' } } },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-2', labels: { pool: 'web', zone: 'a' } } },
];

describe('a list', () => {
  const names = async (...args: readonly string[]) => {
    const input = takenList([...REPORTS, ...NODE_LABELS]);
    const { stdout } = await runPlimsoll(['top', 'nodes', '-f', '-', '-o', 'name', ...args], input);
    return stdout.trim().split('\n');
  };

  test.each([
    [
      ['--sort-by', '.metadata.name'],
      ['node/node-1', 'node/node-2', 'node/node-3'],
    ],
    [['--sort-by={.state}'], ['node/node-2', 'node/node-1', 'node/node-3']],
    [
      ['--sort-by', 'available'],
      ['node/node-3', 'node/node-1', 'node/node-2'],
    ],
    [['-l', 'pool=batch'], ['node/node-1']],
    [['-l', 'pool in (batch, web),!zone'], ['node/node-1']],
    [['-l', 'pool!=batch,zone'], ['node/node-2']],
    [['-l', 'pool notin (web)'], ['node/node-1']],
  ])('%j of the nodes: %j', async (args, expected) => {
    expect(await names(...args)).toEqual(expected);
  });

  test('without headers is as wide as its rows', async () => {
    const input = takenList(EXAMPLE_CLUSTER);
    const { stdout } = await runPlimsoll(['top', 'priorities', '-f', '-', '--no-headers', '--sort-by=priority'], input);
    expect(stdout.split('\n')).toEqual([
      'kept                      -20          true   false   1   1   3   1Gi',
      'batch                     -10          true   false   1   1   3   1Gi',
      'critical                  1000         true   false   2   1   3   2Gi',
      'system-cluster-critical   2000000000   true   false   0   0   0   0',
      'system-node-critical      2000001000   true   false   0   0   0   0',
      '',
    ]);
  });

  test('is not sorted by a field that no item has', async () => {
    const { code, stderr } = await runPlimsoll(['top', 'nodes', '-f', '-', '--sort-by=.size'], takenList(REPORTS));
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('error: cannot sort by ".size": no item has this field; -o json shows the fields\n'),
    ]);
  });

  const noAgent = 'no NodePressure found: see that the agent is installed (kubectl -n plimsoll-node get daemonsets)';

  test.each([
    ['top nodes', [], noAgent],
    ['top nodes -l pool=none', REPORTS, 'no NodePressure found of a node with these labels'],
    ['top pods', [], noAgent],
    ['top pods -n none', REPORTS, 'no pod found that an agent would evict next'],
    [
      'top quotas',
      [],
      'no quota by priority found: no PriorityQuota, and no ResourceQuota that counts priority classes',
    ],
    ['top quotas -n none', [], 'no quota found that limits namespace none'],
    ['top queues', [], 'no Queue found: see that there are some (kubectl get queues)'],
    ['top spare', [], noAgent],
    [
      'top spare',
      REPORTS.slice(0, 1),
      'no agent reports spare room: set spec.spare of a NodePressurePolicy, and see that agents run (plimsoll top nodes)',
    ],
    ['disruptions -A', [], expect.stringMatching(/^no Disruption found in any namespace: /)],
    ['why-not', [], 'no pending pod found'],
  ] as const)('of nothing is no error, and says so: %s', async (words, objects, message) => {
    const input = takenList([...objects, ...NODE_LABELS]);
    const list = (...args: readonly string[]) => runPlimsoll([...words.split(' '), '-f', '-', ...args], input);
    const { code, stdout, stderr } = await list();
    expect([code, stdout, stderr.trimEnd().split('\n').at(-1)]).toEqual([0, '', message]);
    const asData = await list('-o', 'json');
    expect([asData.code, itemsIn(asData.stdout)]).toEqual([0, []]);
  });
});

const report = (name: string, available: string) => ({
  observedAt: new Date().toISOString(),
  mode: 'DryRun',
  signals: [{ name: 'memory.available', state: 'Far', available, threshold: '100Mi', capacity: '8Gi' }],
  next: [],
  agent: { version: '1', pod: name },
});

describe('a list that is watched', () => {
  const cluster = sandboxCluster(async (client) => {
    await installPlimsoll(client);
    for (const name of ['node-1', 'node-2']) {
      await createObject(client, { resource: NODES }, { metadata: { name } });
      await createObject(client, { resource: NODE_PRESSURES }, { metadata: { name } });
      const address = { resource: NODE_PRESSURES, name, subresource: 'status' };
      await patchObject(client, address, { status: report(name, '4Gi') }, { type: 'merge' });
    }
  });

  test('goes on with the rows that change, and a new age alone is no change', async () => {
    const args = [inject('plimsoll'), 'top', 'nodes', '-w', '--kubeconfig', cluster.kubeconfig];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let seen = '';
    child.stdout.on('data', (bytes: Buffer) => (seen += bytes.toString('utf8')));
    const closed = once(child, 'close');
    const set = (name: string, available: string) => {
      const address = { resource: NODE_PRESSURES, name, subresource: 'status' };
      return patchObject(cluster.client(), address, { status: report(name, available) }, { type: 'merge' });
    };
    await untilAnswer(
      () => seen.split('\n').length,
      (lines) => lines > 3,
    );
    await set('node-1', '4Gi');
    await set('node-2', '3Gi');
    await untilAnswer(
      () => seen,
      (text) => text.includes('3Gi'),
    );
    child.kill();
    await closed;
    const cells = seen
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(cells.map(([name, , , , available]) => `${name} ${available}`)).toEqual([
      'NAME AVAILABLE',
      'node-1 4Gi',
      'node-2 4Gi',
      'node-2 3Gi',
    ]);
  });
});
