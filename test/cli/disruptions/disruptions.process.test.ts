import { describe, expect, test } from 'vitest';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createObject, patchObject } from '#shared/kube/client/objects.ts';
import { DISRUPTIONS, NAMESPACES } from '#shared/kube/resource.ts';
import { takenList } from '#test/cli/node-pressures.ts';
import { itemsIn, runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';
import { EVICTED, EXAMPLE_DISRUPTIONS } from './example-disruptions.ts';

const disruptions = (...args: readonly string[]) =>
  runPlimsoll(['disruptions', '-f', '-', ...args], takenList(EXAMPLE_DISRUPTIONS));

describe('plimsoll disruptions', () => {
  test('of all namespaces: when, what, by which cause and why, the newest first', async () => {
    expect(await disruptions('-A')).toEqual({
      code: 0,
      stdout: [
        'TIME                   NAMESPACE   POD         CAUSE        CLASS   NODE     REQUESTED BY     REASON',
        '2026-01-01T11:59:00Z   reports     nightly-2   Taint        batch   node-1   <none>           it does not tolerate a NoExecute taint of its node',
        '2026-01-01T11:50:00Z   reports     nightly-7   Eviction     batch   node-1   plimsoll-agent   uses 2Gi memory, over its request of 1Gi, priority -10',
        '2025-12-25T12:00:00Z   payments    invoice-0   Preemption   batch   node-1   <none>           a scheduler preempted it to make room for a pod of higher priority',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  test('-o wide adds what became of it, and names the record', async () => {
    const lines = (await disruptions('-n', 'payments', '-o', 'wide')).stdout.split('\n');
    expect(lines.map((line) => line.split(/ {3,}/).slice(5, -1))).toEqual([
      ['REQUESTED BY', 'NAME', 'AGE', 'COUNT', 'SET ASIDE ON', 'PLACED ON', 'REPLACED ON'],
      ['<none>', 'invoice-0.0a1b2c3d', '7d', '1', 'node-1', 'node-2', 'node-1'],
      [],
    ]);
  });

  test.each([
    [['-A', '--cause', 'Preemption', '--cause', 'taint'], 'nightly-2.0a1b2c3d invoice-0.0a1b2c3d'],
    [['-n', 'reports'], 'nightly-2.0a1b2c3d nightly-7.0a1b2c3d'],
    [['-A', '--since=5m'], 'nightly-2.0a1b2c3d'],
    [['-A', '--since=1h', '--cause=Eviction'], 'nightly-7.0a1b2c3d'],
  ])('%j shows %s', async (args, names) => {
    const { stdout } = await disruptions(...args, '-o', 'name');
    expect(stdout.replaceAll('disruption.plimsoll.dev/', '').trim().split('\n').join(' ')).toBe(names);
  });

  test('programs read the fields of the object', async () => {
    const { metadata, spec, status } = EVICTED;
    const items = itemsIn((await disruptions('-A', '--cause=Eviction', '-o', 'json')).stdout);
    expect(items).toMatchObject([{ metadata, spec: { cause: spec.cause, pod: spec.pod }, status: { count: 1 } }]);
    expect(items).toMatchObject([{ status: { replacement: { ...(status as { replacement: object }).replacement } } }]);
  });

  test.each([
    [['-n', 'shop'], /^no Disruption found in namespace shop: .*disruptions\.record/],
    [['-A', '--cause', 'Drain'], /^no Disruption with cause Drain found in any namespace\n$/],
    [['-n', 'payments', '--since', '24h'], /^no Disruption found in namespace payments in the last 24h\n$/],
  ])('%j finds none, and says why', async (args, message) => {
    expect(await disruptions(...args)).toEqual({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(message) as string,
    });
  });

  test('columns as the user names them', async () => {
    const columns = 'custom-columns=POD:.spec.pod,LEVEL:.spec.priority,NODE:.status.replacement.node';
    expect((await disruptions('-n', 'payments', '-o', columns)).stdout).toBe(
      'POD         LEVEL   NODE\ninvoice-0   -10     node-1\n',
    );
    expect((await disruptions('-n', 'payments', '-o', columns, '--no-headers')).stdout).toBe(
      'invoice-0   -10   node-1\n',
    );
    const refused = await disruptions('-o', 'custom-columns=POD');
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('expected HEADER:PATH')]);
  });

  test.each(['soon', '0s', '-5m'])('a time that is none: --since=%s', async (since) => {
    const { code, stderr } = await disruptions(`--since=${since}`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Expected a time such as 24h or 30m.')]);
  });

  test('a cause that does not exist', async () => {
    const { code, stderr } = await disruptions('--cause', 'Bug');
    expect([code, stderr]).toEqual([2, expect.stringContaining('Allowed choices are Preemption, Eviction, ')]);
  });
});

describe('plimsoll disruptions of a cluster', () => {
  const bare = sandboxCluster(() => Promise.resolve());
  const { kubeconfig } = sandboxCluster(async (client) => {
    await installPlimsoll(client);
    await createObject(client, { resource: NAMESPACES }, { metadata: { name: 'reports' } });
    const address = { resource: DISRUPTIONS, namespace: 'reports', name: EVICTED.metadata.name };
    expect(await createObject(client, address, EVICTED)).toMatchObject({ kind: 'ok' });
    const status = { status: EVICTED.status };
    await patchObject(client, { ...address, subresource: 'status' }, status, { type: 'merge' });
  });

  test('the kind is served: the record of the namespace, by the command and its other name', async () => {
    const [own, other] = await Promise.all(
      ['disruptions', 'evictions'].map((name) =>
        runPlimsoll([name, '-n', 'reports', '--kubeconfig', kubeconfig, '-o', 'jsonpath={.items[*].status.goneAt}']),
      ),
    );
    expect(own).toEqual({ code: 0, stdout: '2026-01-01T11:50:12.000Z', stderr: '' });
    expect(other).toEqual(own);
  });

  test('the namespace of the context has none', async () => {
    const { code, stderr } = await runPlimsoll(['disruptions', '--kubeconfig', kubeconfig]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^no Disruption found in namespace payments: /)]);
  });

  test('explain pod needs no more than the record', async () => {
    const run = await runPlimsoll(['explain', 'pod', 'reports/nightly-7', '--kubeconfig', kubeconfig]);
    expect([run.code, run.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^pod reports\/nightly-7 does not exist; 1 Disruption says what removed it\n\npod .* was evicted/,
      ),
    ]);
  });

  const UNKNOWN_KIND =
    'the API server does not know Disruptions: apply deploy/crds, and set disruptions.record: On in the ' +
    'SchedulerConfiguration of plimsoll-controller';

  test.each([
    [['disruptions', '-A'], UNKNOWN_KIND],
    [['explain', 'disruption', 'a'], UNKNOWN_KIND],
    [
      ['explain', 'pod', 'a'],
      'pod payments/a not found; removed pods are not recorded: the API server does not know Disruptions',
    ],
  ])('the kind is not served: %j', async (args, message) => {
    expect(await runPlimsoll([...args, '--kubeconfig', bare.kubeconfig])).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: ${message}\n`,
    });
  });
});
