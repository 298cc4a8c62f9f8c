import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeAccount } from '#shared/api/disruption-account.ts';
import { MAX_DEBITS } from '#shared/domain/disruption/account.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { createObject, deleteObject, getObject, patchObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { DISRUPTION_ACCOUNTS, DISRUPTION_LIMITS, NAMESPACES, PODS } from '#shared/kube/resource.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { startTestSandbox } from '#test/build/test-sandbox.ts';
import { running } from '#test/shared/domain/disruption/accounts.ts';
import { valueOf } from '#test/build/value-of.ts';
import { createDisruptionAccounts, type AskedRemoval } from '#webhook/evictions/disruption-accounts.ts';

/** Several replicas on one API server: what they decide is only bound by compare-and-swap. */
describe('accounts that replicas share', () => {
  let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
  let namespaces = 0;
  beforeAll(async () => {
    sandbox = await startTestSandbox();
  });
  afterAll(() => sandbox.stop());

  async function given(limit: object, count: number): Promise<readonly Pod[]> {
    const { client } = sandbox;
    const namespace = `team-${(namespaces += 1)}`;
    expectOk(
      await createObject(
        client,
        { resource: NAMESPACES },
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      ),
      'create',
    );
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionLimit', metadata: { name: 'all' } };
    const made = await createObject(
      client,
      { resource: DISRUPTION_LIMITS, namespace },
      { ...head, spec: { selector: {}, ...limit } },
    );
    expectOk(made, 'create the limit');
    return Promise.all(Array.from({ length: count }, (_, index) => pod(namespace, `p${index}`)));
  }

  async function pod(namespace: string, name: string): Promise<Pod> {
    const spec = { containers: [{ name: 'main', image: 'i' }] };
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
    const created = expectOk(await createObject(sandbox.client, { resource: PODS, namespace }, object), 'create');
    return running(valueOf(decodePod(created)));
  }

  /** What so many replicas answer that are asked about the pods in turn. */
  function ask(count: number, pods: readonly Pod[], more: Partial<AskedRemoval> = {}) {
    const each = replicas(count);
    return Promise.all(pods.flatMap((of, index) => each[index % count]?.debit(asked(of, more)) ?? []));
  }

  function replicas(count: number) {
    const { client } = sandbox;
    return Array.from({ length: count }, () =>
      createDisruptionAccounts({ client, clock, metrics: createMetrics('test') }),
    );
  }

  function asked(of: Pod, more: Partial<AskedRemoval> = {}): AskedRemoval {
    const giveUpAt = clock.monotonic() + 20_000;
    return { pod: of, component: 'Others', caller: 'ann', kind: 'evict', isDryRun: false, giveUpAt, ...more };
  }

  async function debits(namespace = '') {
    const found = await getObject(sandbox.client, { resource: DISRUPTION_ACCOUNTS, namespace, name: 'plimsoll' });
    return found.kind === 'ok' ? valueOf(decodeAccount(found.object)) : [];
  }

  test('of many evictions for one unit exactly one is let through, with three replicas', async () => {
    const pods = await given({ limits: [{ max: 1, window: '1h' }] }, 30);
    const answers = await ask(3, pods);
    expect(answers.filter((each) => each.kind === 'debited')).toHaveLength(1);
    expect(answers.filter((each) => each.kind === 'exceeded')).toHaveLength(29);
    expect(await debits(pods[0]?.namespace)).toHaveLength(1);
  });

  test('a percentage counts the pods that are expected, and removals of all replicas fill it', async () => {
    const pods = await given({ limits: [{ max: '10%', window: '1h' }] }, 30);
    const answers = await ask(3, pods);
    expect(answers.filter((each) => each.kind === 'debited')).toHaveLength(3);
  });

  test('a minimum keeps as many pods available, counted with three replicas (S3-15)', async () => {
    const pods = await given({ minAvailable: 8 }, 10);
    const ready = { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' };
    for (const { namespace, name } of pods) {
      const address = { resource: PODS, namespace, name, subresource: 'status' };
      expectOk(await patchObject(sandbox.client, address, { status: ready }, { type: 'merge' }), 'make it ready');
    }
    const answers = await ask(3, pods);
    expect(answers.filter((each) => each.kind === 'debited')).toHaveLength(2);
    expect(answers.find((each) => each.kind === 'exceeded')).toMatchObject({ what: 'minAvailable', most: 8 });
  });

  test('deletions are counted beyond a limit, and share writes', async () => {
    const pods = await given({ limits: [{ max: 1, window: '1h' }] }, 30);
    const answers = await ask(1, pods, { kind: 'count' });
    expect(answers.every((each) => each.kind === 'debited')).toBe(true);
    const counted = await debits(pods[0]?.namespace);
    expect([counted.length, counted.length < MAX_DEBITS, counted[0]?.caller]).toEqual([30, true, 'ann']);
  });

  test('a dry run writes nothing, and what overruns says which limit', async () => {
    const [first, second, third] = await given({ limits: [{ max: 1, window: '1h' }] }, 3);
    const [one] = replicas(1);
    if (first === undefined || second === undefined || third === undefined) throw new Error('no pods');
    expect(await one?.debit(asked(first, { isDryRun: true }))).toMatchObject({ kind: 'debited' });
    expect(await debits(first.namespace)).toEqual([]);
    await one?.debit(asked(second, { component: 'Agent' }));
    expect(await one?.debit(asked(third, { kind: 'overrun', component: 'Agent' }))).toMatchObject({
      kind: 'debited',
      overran: { key: 'limit/all', most: 1 },
    });
    expect((await debits(first.namespace)).map(({ overran }) => overran)).toEqual([undefined, 'limit/all']);
  });

  test('limits that cannot be read hold back everyone but those who may go beyond them', async () => {
    const [first] = await given({ limits: [{ max: 1, window: '1h' }] }, 1);
    if (first === undefined) throw new Error('no pod');
    const broken = { kind: 'serverError', message: 'broken' } as const;
    const client: KubeClient = {
      ...sandbox.client,
      request: (sent) =>
        sent.path.endsWith('/disruptionlimits') ? Promise.resolve(broken) : sandbox.client.request(sent),
    };
    const accounts = createDisruptionAccounts({ client, clock, metrics: createMetrics('test') });
    expect(await accounts.debit(asked(first))).toMatchObject({ kind: 'unclear' });
    expect(await accounts.debit(asked(first, { kind: 'overrun' }))).toMatchObject({ kind: 'debited' });
  });

  test('a debit that is withdrawn leaves room', async () => {
    const [first, second] = await given({ limits: [{ max: 1, window: '1h' }] }, 2);
    const [one] = replicas(1);
    if (first === undefined || second === undefined) throw new Error('no pods');
    await one?.debit(asked(first));
    await one?.withdraw(asked(first));
    expect(await one?.debit(asked(second))).toMatchObject({ kind: 'debited' });
  });

  test('what cannot be read lets nothing go; a kind that is not defined limits nothing', async () => {
    const [first] = await given({ limits: [{ max: 1, window: '1h' }] }, 1);
    if (first === undefined) throw new Error('no pods');
    const late = replicas(1)[0]?.debit(asked(first, { giveUpAt: clock.monotonic() }));
    expect(await late).toMatchObject({ kind: 'unclear' });
    await deleteObject(sandbox.client, { resource: DISRUPTION_LIMITS, namespace: first.namespace, name: 'all' });
    expect(await replicas(1)[0]?.debit(asked(first))).toMatchObject({ kind: 'debited' });
    expect(await debits(first.namespace)).toEqual([]);
  });
});
