import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_ACCOUNTS } from '#shared/kube/accounts/accounts.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import { PODS } from '#shared/kube/resource.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';
import { at } from '#test/contract/harness.ts';
import { podOf, pods, queueScene } from './queue-scene.ts';

/** So few show that all gates come off. PLIMSOLL_QUEUE_PODS takes more: 1,500 show how fast. */
const COUNT = Number(process.env['PLIMSOLL_QUEUE_PODS'] ?? 40);
const AT_ONCE = 16;
const LEASES = ALL_ACCOUNTS.flatMap(({ rights }) => rights)
  .filter(({ resources, verbs }) => resources.includes('leases') && !verbs.includes('watch'))
  .flatMap(({ names = [] }) => names);
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`how fast gates come off${why ?? ''}`, () => {
  const own = ownCluster();
  const scene = queueScene(own);
  const names = Array.from({ length: COUNT }, (_, index) => `pod-${index}`);
  let leader: SchedulerProcess | undefined;

  beforeAll(async () => {
    await scene.install();
    await scene.manage('busy', { team: 'busy' });
    await makeFakeNodes(own().admin, 'node', 1);
    // No scheduler takes them, whose writes would come in between.
    const spec = { schedulerName: 'none' };
    await inFlight(AT_ONCE, names, (name) => scene.create(pods('busy'), podOf(name, spec, {}, '1m')));
    leader = await scene.startLeader();
    await eventually(() => expect(leader?.log()).toContain('Lease acquired'), 30_000);
  }, 300_000);
  afterAll(() => leader?.stop());

  test('all of them do, and the rate is printed beside that of one client which patches pods', async () => {
    const { admin } = own();
    const seconds = async (work: () => Promise<unknown>): Promise<number> => {
      const startedAt = performance.now();
      await work();
      return (performance.now() - startedAt) / 1_000;
    };
    const patching = await seconds(() =>
      inFlight(AT_ONCE, names, async (name) => {
        const patch = { metadata: { annotations: { measured: 'plain' } } };
        const outcome = await patchObject(admin, { resource: PODS, namespace: 'busy', name }, patch, { type: 'merge' });
        expect(outcome.kind).toBe('ok');
      }),
    );
    await scene.queue('busy', { namespaceSelector: {} });
    const lettingIn = await seconds(() =>
      eventually(async () => {
        const count = /plimsoll_queue_gates_total\{outcome="ok"\} (?<count>\d+)/.exec((await leader?.metrics()) ?? '');
        expect(Number(count?.groups?.['count'])).toBe(COUNT);
      }, 120_000),
    );
    console.log({ pods: COUNT, patchesPerSecond: COUNT / patching, gatesPerSecond: COUNT / lettingIn });
    expect(at(await scene.user()('GET', pods('busy')), 'body.items')).toHaveLength(COUNT);
  }, 300_000);

  test('no account of ours creates a Lease that it may not renew', async () => {
    const path = '/apis/coordination.k8s.io/v1/namespaces/plimsoll-system/leases?dryRun=All';
    const answers = ALL_ACCOUNTS.flatMap(({ name, user: account, rights }) =>
      ['forged', 'plimsoll-of-another-part', ...LEASES].map(async (lease) => {
        const { status } = await scene.user(account)('POST', path, { metadata: { name: lease } });
        const isOwn = rights.some(({ names }) => names?.includes(lease) === true);
        // Some of them exist: their parts may run.
        return [name, lease, [201, 409].includes(status), isOwn] as const;
      }),
    );
    for (const [name, lease, isCreated, isOwn] of await Promise.all(answers))
      expect([name, lease, isCreated]).toEqual([name, lease, isOwn]);
  });
});
