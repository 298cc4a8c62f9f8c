import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PREEMPTION_BY_POD } from '#shared/kube/api-names.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { PATIENCE_MS, QUEUES } from './queue-scene.ts';
import { fill, GUARANTEED, isGated, type QueuePodPlan, reclaimScene, TAKER, TEAM } from './reclaim-scene.ts';

const why = whyNoOwnCluster(process.env);
const TEST = { timeout: 90_000 };
describe.skipIf(why !== undefined)(`reclaim between queues on the stock kube-scheduler${why ?? ''}`, () => {
  const own = ownCluster();
  const scene = reclaimScene(own);
  const { begin, createPod, get, notes, onNodes, untilPlaced, untilNoRoom } = scene;

  beforeAll(async () => {
    await scene.open();
    await scene.startRecord();
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    const spared = { 'plimsoll.dev/allow-preemption': 'false' };
    await scene.create(classes, { metadata: { name: 'spared', annotations: spared }, value: 0 });
    const byPod = { 'plimsoll.dev/allow-preemption': PREEMPTION_BY_POD };
    await scene.create(classes, { metadata: { name: 'asking', annotations: byPod }, value: 0 });
    await scene.create(classes, { metadata: { name: 'never' }, value: 0, preemptionPolicy: 'Never' });
    await scene.create(classes, { metadata: { name: 'high' }, value: 1_000 });
    await scene.create(classes, { metadata: { name: 'low' }, value: -1_000 });
  }, 120_000);
  afterAll(() => scene.close());

  const everyone = fill('test', ['a', 'b', 'c', 'd']);
  const later = fill('test', ['b', 'c', 'd']);

  test('a pod of a queue under its guarantee gets the room of a pod of another queue (S2-2, S2-13)', TEST, async () => {
    await begin(GUARANTEED, everyone);
    await createPod(TAKER);
    const left = await untilPlaced('taker');
    expect([left.length, isGated(await get('taker'))]).toEqual([4, false]);
  });

  test('a change of the queue root takes effect without a restart', TEST, async () => {
    await begin(GUARANTEED, everyone);
    const set = (mode: string) => scene.user()('PATCH', `${QUEUES}/root`, { spec: { reclaim: { mode } } });
    expect((await set('DryRun')).status).toBe(200);
    await createPod(TAKER);
    await eventually(() => expect(scene.log()).toContain('Would reclaim room (dry run)'), PATIENCE_MS);
    expect(await onNodes()).toHaveLength(4);
    expect((await set('Enforce')).status).toBe(200);
    expect(await untilPlaced('taker')).toHaveLength(4);
  });

  test('the record of a pod that made room says for which queue, and names no pod', TEST, async () => {
    await begin(GUARANTEED, everyone);
    await createPod(TAKER);
    await untilPlaced('taker');
    const because = { code: 'Reclaim', text: 'queue prod is under its guarantee, and queue test over its own' };
    await eventually(async () => {
      const { body } = await scene.user()('GET', `/apis/plimsoll.dev/v1alpha1/namespaces/${TEAM}/disruptions`);
      const records = at(body, 'items') as readonly object[];
      expect(records.map((each) => at(each, 'spec'))).toContainEqual(
        expect.objectContaining({
          cause: 'Reclaim',
          pod: 'd',
          requestedBy: 'plimsoll-queues',
          because: expect.objectContaining(because) as object,
        }),
      );
    }, PATIENCE_MS);
  });

  test.each<[string, readonly QueuePodPlan[], string]>([
    ['of the lowest priority (S2-3, S4-11)', [...fill('test', ['a'], { className: 'low' }), ...later], 'a'],
    [
      'whose class did not ask to be spared (S2-5, S2-28)',
      [...fill('test', ['a']), ...fill('test', ['b', 'c', 'd'], { className: 'spared' })],
      'a',
    ],
    [
      'that did not ask to be spared itself (S2-7)',
      [
        ...fill('test', ['d'], { className: 'asking' }),
        ...fill('test', ['a', 'b', 'c'], {
          className: 'asking',
          annotations: { 'plimsoll.dev/allow-preemption': 'false' },
        }),
      ],
      'd',
    ],
    [
      'that does not manage its application (S2-6)',
      [
        ...fill('test', ['a', 'b', 'c'], { className: 'high' }),
        { name: 'd', queue: 'test', application: 'spark', labels: { 'plimsoll.dev/originator': 'true' } },
      ].map((each) => (each.name === 'c' ? { ...each, application: 'spark', className: 'never' } : each)),
      'c',
    ],
    ['that runs for the shortest time (S4-13)', everyone, 'd'],
  ])('the pod goes first %s', TEST, async (_, running, victim) => {
    await begin(GUARANTEED, running);
    await createPod(TAKER);
    expect(await untilPlaced('taker')).toEqual(['a', 'b', 'c', 'd', 'taker'].filter((name) => name !== victim));
    expect(await notes('Reclaimed')).toHaveLength(1);
  });

  test('a pod that asked to be spared goes where no other would do, and the record says so (S2-9)', TEST, async () => {
    await begin(GUARANTEED, fill('test', ['a', 'b', 'c', 'd'], { className: 'spared' }));
    await createPod(TAKER);
    expect(await untilPlaced('taker')).toHaveLength(4);
    expect(await notes('Reclaimed')).toEqual([
      'evicted: queue prod is under its guarantee, and queue test over its own; it asked to be spared, but no other pods free enough room',
    ]);
    expect(scene.log()).toContain('"code":"LastResort"');
  });

  const never = 'no node has enough pods that may be evicted to make room';
  test.each<[string, Readonly<Record<string, object>>, readonly QueuePodPlan[], Partial<QueuePodPlan>, string]>([
    [
      'of its own application (S2-11)',
      GUARANTEED,
      fill('test', ['a', 'b', 'c', 'd'], { application: 'x' }),
      { application: 'x' },
      never,
    ],
    [
      'of higher priority (S2-14, S2-22)',
      GUARANTEED,
      fill('test', ['a', 'b', 'c', 'd'], { className: 'high' }),
      {},
      never,
    ],
    [
      'of its own queue (S2-14)',
      { prod: { guaranteed: { cpu: 16 } }, test: {} },
      [...fill('prod', ['a', 'b']), ...fill('test', ['c', 'd'], { className: 'high' })],
      {},
      never,
    ],
    [
      'that its queue could not spare without falling below its guarantee (S2-10, S2-22)',
      { prod: { guaranteed: { cpu: 8 } }, test: { guaranteed: { cpu: 13 } } },
      everyone,
      {},
      never,
    ],
    [
      'of a queue that takes no part (S2-32)',
      { ...GUARANTEED, test: { preemption: { policy: 'Disabled' } } },
      everyone,
      {},
      'queue test takes no part in preemption between queues',
    ],
    [
      'for a queue that takes no part (S2-32)',
      { prod: { guaranteed: { cpu: 8 }, preemption: { policy: 'Disabled' } }, test: {} },
      everyone,
      {},
      'queue prod takes no part in preemption between queues',
    ],
    [
      'for a queue at its guarantee (S2-12, S2-19)',
      { prod: { guaranteed: { cpu: 4 } }, test: {} },
      [...fill('prod', ['a']), ...fill('test', ['b', 'c', 'd'])],
      {},
      'queue prod is not under its guarantee (cpu 4 of 4)',
    ],
    [
      'for a pod whose class never preempts (S2-31)',
      GUARANTEED,
      everyone,
      { className: 'never' },
      'the class of pod team/taker never preempts',
    ],
  ])('no pod goes %s', TEST, async (_, queues, running, taker, text) => {
    await begin(queues, running);
    await createPod({ ...TAKER, ...taker });
    expect(await untilNoRoom('taker')).toEqual([expect.stringContaining(text)]);
    expect(await onNodes()).toEqual(['a', 'b', 'c', 'd']);
    await eventually(async () => expect(isGated(await get('taker'))).toBe(false), PATIENCE_MS);
  });

  test('no pod goes for one above the maximum of its queue, which waits behind its gate (S2-37)', TEST, async () => {
    await begin({ prod: { guaranteed: { cpu: 3 }, max: { cpu: 3 } }, test: {} }, everyone);
    await createPod(TAKER);
    await eventually(async () => {
      expect(await notes('WaitsInQueue', 'taker')).toEqual(['waits for 1 cpu: queue prod is at its maximum 3']);
    }, PATIENCE_MS);
    expect([await onNodes(), isGated(await get('taker'))]).toEqual([['a', 'b', 'c', 'd'], true]);
  });

  test('a policy of the root changes nothing (S2-32)', TEST, async () => {
    await begin({ root: { preemption: { policy: 'Disabled' } }, ...GUARANTEED }, everyone);
    await createPod(TAKER);
    expect(await untilPlaced('taker')).toHaveLength(4);
  });

  test('guarantees above the cluster are reported, and each queue keeps its own (S2-19)', TEST, async () => {
    await begin({ prod: { guaranteed: { cpu: 12 } }, test: { guaranteed: { cpu: 12 } } }, everyone);
    await createPod(TAKER);
    expect(await untilPlaced('taker')).toHaveLength(4);
    await createPod({ ...TAKER, name: 'next' });
    expect(await untilNoRoom('next')).toEqual([
      'no queue below queue root is over its guarantee in a type that the pod asks for',
    ]);
    const { body } = await scene.user()('GET', `${QUEUES}/prod`);
    expect(at(body, 'status.conditions')).toContainEqual(
      expect.objectContaining({ type: 'GuaranteesCovered', status: 'False' }),
    );
  });

  test('nothing goes before the pod has waited for the delay of its queue (S2-20)', TEST, async () => {
    await begin({ prod: { guaranteed: { cpu: 8 }, preemption: { delay: '8s' } }, test: {} }, everyone);
    await createPod(TAKER);
    expect(await untilPlaced('taker')).toHaveLength(4);
    const taker = await get('taker');
    const annotations = at(taker, 'metadata.annotations') as Readonly<Record<string, string>>;
    const admitted = JSON.parse(annotations['plimsoll.dev/admitted'] ?? '') as { at: string };
    const waitedMs = Date.parse(admitted.at) - Date.parse(textAt(taker, 'metadata.creationTimestamp'));
    expect(waitedMs).toBeGreaterThanOrEqual(8_000);
  });

  test.each([true, false])(
    'with preferNear %s the nearer queue gives of two equal choices (S2-23)',
    TEST,
    async (preferNear) => {
      const guaranteed = { cpu: 8 };
      await begin(
        {
          here: {},
          prod: { parent: 'here', guaranteed, preemption: { preferNear } },
          near: { parent: 'here' },
          far: {},
        },
        [...fill('near', ['a', 'b']), ...fill('far', ['c', 'd'])],
      );
      await createPod(TAKER);
      expect(await untilPlaced('taker')).toEqual(preferNear ? ['a', 'c', 'd', 'taker'] : ['a', 'b', 'c', 'taker']);
    },
  );
});
