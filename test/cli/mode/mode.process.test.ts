import { beforeEach, describe, expect, test } from 'vitest';
import { NOT_CONFIRMED, QUESTION, QUESTION_SET } from '#cli/mode/messages.ts';
import { patchPolicy } from '#cli/mode/plan-mode.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createObject, deleteObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import { NODE_PRESSURE_POLICIES, NODE_PRESSURES, NODES, QUEUES, VALIDATING_WEBHOOKS } from '#shared/kube/resource.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { type Run, runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

const BATCH = { resource: NODE_PRESSURE_POLICIES, name: 'batch' };
const POOL = ['--node-selector=pool=batch'];
const ROWS =
  'NODE      POLICY   FROM     TO        STATE   NEXT\nbatch-1   batch    DryRun   Enforce   Hard    shop/web-0\n';

/** Of others, and out of order: no policy can be changed. */
const OUT = {
  name: 'out.example.com',
  clientConfig: { url: 'https://127.0.0.1:1' },
  rules: [
    { apiGroups: ['plimsoll.dev'], apiVersions: ['*'], resources: ['nodepressurepolicies'], operations: ['UPDATE'] },
  ],
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  failurePolicy: 'Fail',
};
const PRESSURE = {
  observedAt: new Date(Date.now() + 60_000).toISOString(),
  signals: [
    { name: 'memory.available', available: '100Mi', threshold: '250Mi', state: 'Hard', since: '', observedAt: '' },
  ],
  next: [{ pod: 'shop/web-0', uid: 'u', because: { code: 'c', text: 't', facts: {} } }],
};

describe('plimsoll mode', () => {
  const { kubeconfig, client } = sandboxCluster(async (admin) => {
    await installPlimsoll(admin);
    const spec = { nodeSelector: { matchLabels: { pool: 'batch' } } };
    await createObject(admin, { resource: NODES }, { metadata: { name: 'batch-1', labels: { pool: 'batch' } } });
    await createObject(admin, { resource: NODES }, { metadata: { name: 'web-1', labels: { pool: 'web' } } });
    await createObject(admin, { resource: NODE_PRESSURE_POLICIES }, { metadata: { name: 'batch' }, spec });
    await createObject(admin, { resource: NODE_PRESSURES }, { metadata: { name: 'batch-1' } });
    const status = { resource: NODE_PRESSURES, name: 'batch-1', subresource: 'status' };
    await patchObject(admin, status, { status: PRESSURE }, { type: 'merge' });
  });
  const modeOf = async () => at(await getObject(client(), BATCH), 'object.spec.mode') ?? 'DryRun';
  const mode = (...args: readonly string[]) => runPlimsoll(['mode', ...args, '--kubeconfig', kubeconfig]);
  /** The lines of standard error that follow context and cluster. */
  const told = ({ stderr }: Run) => {
    const [first, ...others] = stderr.split('\n');
    expect(first).toMatch(/^context "sandbox", cluster "sandbox" \(https:\/\/127\.0\.0\.1:\d+\)$/);
    return others.join('\n');
  };

  beforeEach(async () => {
    await patchObject(client(), BATCH, { spec: { mode: 'DryRun' } }, { type: 'merge' });
  });

  test('show names each switch with its value', async () => {
    const { code, stdout } = await mode('show');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/).join(' | '));
    expect([code, ...lines.slice(0, 7)]).toEqual([
      0,
      'OBJECT | FIELD | VALUE',
      'nodepressurepolicy/batch | spec.mode | DryRun',
      'nodepressurepolicy/batch | spec.avoidance.mode | DryRun (default)',
      'nodepressurepolicy/batch | spec.taints.mode | DryRun (default)',
      'nodepressurepolicy/batch | spec.cpu.mode | DryRun (default)',
      'nodepressurepolicy/batch | spec.spare.mode | Disabled (default)',
      'queue/root | spec.reclaim.mode | DryRun (default)',
    ]);
  });

  test('set changes switches of one object, and makes the root of queues where there is none', async () => {
    const asked = await mode('set', 'queue/root', 'reclaim.mode=Enforce');
    expect([asked.code, told(asked)]).toEqual([
      1,
      `FIELD               FROM     TO\nspec.reclaim.mode   DryRun   Enforce\n${QUESTION_SET}\n${NOT_CONFIRMED}\n`,
    ]);
    const root = () => getObject(client(), { resource: QUEUES, name: 'root' });
    expect((await root()).kind).toBe('notFound');
    const planned = await mode('set', 'queue/root', 'reclaim.mode=Enforce', '--dry-run=client');
    expect(planned.stdout).toMatch(/DryRun +Enforce\nqueue\.plimsoll\.dev\/root patched \(dry run\)\n$/);
    const made = await mode('set', 'queue/root', 'reclaim.mode=Enforce', '--yes');
    expect([made.code, made.stdout]).toEqual([0, 'queue.plimsoll.dev/root patched\n']);
    expect(await root()).toMatchObject({ object: { spec: { reclaim: { mode: 'Enforce' } } } });
    const back = await mode('set', 'queue/root', 'spec.reclaim.mode=DryRun', 'reclaim.by=Shares');
    expect([back.code, back.stdout, told(back)]).toEqual([0, 'queue.plimsoll.dev/root patched\n', '']);
    expect(await root()).toMatchObject({ object: { spec: { reclaim: { mode: 'DryRun', by: 'Shares' } } } });
    await deleteObject(client(), { resource: QUEUES, name: 'root' });
  });

  test.each([
    [
      'a value that the API server refuses',
      ['set', 'nodepressurepolicy/batch', 'mode=Sometimes'],
      1,
      /^error: cannot set nodepressurepolicy\.plimsoll\.dev\/batch: .*mode/m,
    ],
    ['an object that does not exist', ['set', 'nodepressurepolicy/web', 'mode=DryRun'], 1, /"web" not found/],
    ['a field that is none', ['set', 'nodepressurepolicy/batch', 'order=3'], 2, /field "order" is not a switch/],
  ])('set changes nothing for %s', async (_, args, expectedCode, text) => {
    const { code, stdout, stderr } = await mode(...args);
    expect([code, stdout, stderr]).toEqual([expectedCode, '', expect.stringMatching(text)]);
  });

  test('enforce, and back', async () => {
    const line = 'nodepressurepolicy.plimsoll.dev/batch patched\n';
    const enforced = await mode('enforce', ...POOL, '--yes');
    expect([enforced.code, enforced.stdout, told(enforced)]).toEqual([0, line, '']);
    expect(await modeOf()).toBe('Enforce');
    const back = await mode('dry-run', '-l', 'pool in (batch)');
    expect([back.code, back.stdout, told(back)]).toEqual([0, line, '']);
    expect(await modeOf()).toBe('DryRun');
  });

  test.each([
    ['y\n', 'Enforce', 0, ''],
    ['n\n', 'DryRun', 1, `${NOT_CONFIRMED}\n`],
    ['', 'DryRun', 1, `${NOT_CONFIRMED}\n`],
  ])('enforce shows the nodes and asks: the answer %j leaves mode %s', async (answer, after, code, last) => {
    const run = await runPlimsoll(['mode', 'enforce', ...POOL, '--kubeconfig', kubeconfig], answer);
    expect([run.code, told(run)]).toEqual([code, `${ROWS}${QUESTION}\n${last}`]);
    expect(await modeOf()).toBe(after);
  });

  test.each([
    ['client', 'nodepressurepolicy.plimsoll.dev/batch patched (dry run)\n'],
    ['server', 'nodepressurepolicy.plimsoll.dev/batch patched (server dry run)\n'],
  ])('--dry-run=%s shows what would change, and changes nothing', async (strategy, line) => {
    const run = await mode('enforce', ...POOL, `--dry-run=${strategy}`);
    expect([run.code, run.stdout, told(run)]).toEqual([0, ROWS + line, '']);
    expect(await modeOf()).toBe('DryRun');
  });

  test('the mode that is set already', async () => {
    const stdout = 'nodepressurepolicy.plimsoll.dev/batch patched (no change)\n';
    const run = await mode('dry-run', ...POOL);
    expect([run.code, run.stdout, told(run)]).toEqual([0, stdout, '']);
  });

  test('nodes without a policy are named, and the others change', async () => {
    const run = await mode('enforce', '--node-selector=', '--yes');
    expect({ code: run.code, told: told(run) }).toEqual({
      code: 0,
      told: 'warning: no NodePressurePolicy selects web-1: the setting --mode of the agents there is unchanged\n',
    });
    expect(await modeOf()).toBe('Enforce');
  });

  test('no policy at all', async () => {
    const run = await mode('enforce', '-l', 'pool=web');
    expect({ code: run.code, told: told(run) }).toEqual({
      code: 1,
      told:
        'error: no NodePressurePolicy selects web-1; apply one, such as ' +
        'deploy/examples/node-pressure-policy-dry-run.yaml, and run the command again\n',
    });
  });

  test.each([
    ['pool=none', /^error: no node matches the selector "pool=none"; .*\n$/],
    ['pool in batch', /^error: cluster: cannot list nodes: .+\n$/],
  ])('the selector %s', async (selector, message) => {
    const run = await mode('enforce', '-l', selector);
    expect({ code: run.code, told: told(run) }).toEqual({ code: 2, told: expect.stringMatching(message) as string });
  });

  test('a policy that was changed meanwhile is not overwritten', async () => {
    const resourceVersion = textAt(await getObject(client(), BATCH), 'object.metadata.resourceVersion');
    await patchObject(client(), BATCH, { spec: { order: 7 } }, { type: 'merge' });
    const change = { policy: 'batch', resourceVersion, spec: { mode: 'Enforce' } };
    expect(await patchPolicy(change, client(), false)).toMatch(/the object has been modified/);
    expect(await modeOf()).toBe('DryRun');
  });

  test('a patch that the API server refuses', async () => {
    await createObject(client(), { resource: VALIDATING_WEBHOOKS }, { metadata: { name: 'out' }, webhooks: [OUT] });
    const run = await mode('enforce', ...POOL, '-y');
    expect({ code: run.code, stdout: run.stdout, told: told(run) }).toEqual({
      code: 1,
      stdout: '',
      told: expect.stringMatching(/^error: cannot patch NodePressurePolicy batch: .*out\.example\.com/) as string,
    });
    await deleteObject(client(), { resource: VALIDATING_WEBHOOKS, name: 'out' });
  });
});
