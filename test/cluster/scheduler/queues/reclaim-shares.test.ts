import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { seed } from '#test/shared/domain/queue/builders.ts';
import { PATIENCE_MS, podOf, pods, QUEUES } from './queue-scene.ts';
import { isGated, type QueuePodPlan, reclaimScene } from './reclaim-scene.ts';

const why = whyNoOwnCluster(process.env);
const TEST = { timeout: 120_000 };

interface NineCpus {
  readonly given: {
    readonly total: { readonly cpu: number };
    readonly queues: readonly {
      readonly name: string;
      readonly weight: number;
      readonly pods: readonly { readonly name: string; readonly cpu: number }[];
    }[];
    readonly arrives: { readonly name: string; readonly weight: number };
  };
  readonly then: readonly {
    readonly victims?: Readonly<Record<string, readonly string[]>>;
    readonly queues: readonly { readonly name: string; readonly deserved: { readonly cpu: number } }[];
  }[];
}

interface Overuse {
  readonly given: {
    readonly queues: readonly {
      readonly name: string;
      readonly weight: number;
      readonly allocated: { readonly cpu: number };
      readonly pods: readonly { readonly name: string; readonly cpu: number }[];
    }[];
  };
  readonly then: { readonly victims: Readonly<Record<string, { readonly oneOf?: readonly string[] }>> };
}

/** Sixteen CPUs, of which pods outside of queues request what the example does not have. */
describe.skipIf(why !== undefined)(`reclaim by shares on the stock kube-scheduler${why ?? ''}`, () => {
  const own = ownCluster();
  const scene = reclaimScene(own, { mode: 'Enforce', by: 'Shares', overuse: 'Evict' });
  const { begin, createPod, onNodes, untilPlaced } = scene;
  beforeAll(() => scene.open(), 120_000);
  afterAll(() => scene.close());

  async function outside(name: string, node: string, cpu: number): Promise<void> {
    const spec = { nodeSelector: { 'kubernetes.io/hostname': node } };
    await scene.create(pods('default'), podOf(name, spec, {}, String(cpu)));
    await eventually(async () => {
      expect(at((await scene.user()('GET', pods('default', name))).body, 'spec.nodeName')).toBe(node);
    }, PATIENCE_MS);
  }

  async function statuses(names: readonly string[], field: string): Promise<Readonly<Record<string, unknown>>> {
    const read = async (name: string) =>
      at((await scene.user()('GET', `${QUEUES}/${name}`)).body, `status.${field}.cpu`);
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
  }

  test('the 9-CPU example comes out as in its tables (S4-2, S4-4 to S4-9)', TEST, async () => {
    const { given, then } = seed('s4-9') as NineCpus;
    const id = (name: string): string => name.toLowerCase();
    const all = [...given.queues, given.arrives].map(({ name, weight }) => [id(name), { weight }] as const);
    await scene.clear();
    await outside('rest-0', 'node-0', 5);
    await outside('rest-1', 'node-1', 2);
    const running = given.queues.flatMap(({ name, pods: ofQueue }) =>
      ofQueue.map((pod): QueuePodPlan => ({
        name: `${id(name)}-${pod.name}`,
        queue: id(name),
        cpu: String(pod.cpu),
        // Time to read both statuses while the victims terminate.
        graceSeconds: 20,
      })),
    );
    await scene.fillUp(Object.fromEntries(all), running);
    const arriving = id(given.arrives.name);
    const names = all.map(([name]) => name);
    for (const index of [0, 1, 2]) await createPod({ name: `${arriving}-${index}`, queue: arriving, cpu: '1' });

    const deserved = Object.fromEntries(
      (then[0]?.queues ?? []).map((each) => [id(each.name), String(each.deserved.cpu)]),
    );
    await eventually(async () => expect(await statuses(names, 'deserved')).toEqual(deserved), PATIENCE_MS);
    await eventually(async () => {
      // Together all nine (S4-15).
      expect(await statuses(names, 'preempting')).toMatchObject({ [arriving]: '2' });
      expect(await statuses(names, 'allocated')).toEqual({ 'queue-1': '2', 'queue-2': '4', [arriving]: '1' });
    }, PATIENCE_MS);
    const victims = Object.entries(then[1]?.victims ?? {}).flatMap(([queue, ofQueue]) =>
      ofQueue.map((pod) => `${id(queue)}-${pod}`),
    );
    const left = running.map(({ name }) => name).filter((name) => !victims.includes(name));
    await eventually(async () => {
      expect(await onNodes()).toEqual([...left, ...[0, 1, 2].map((index) => `${arriving}-${index}`)].sort());
      expect(await statuses(names, 'used')).toEqual({ 'queue-1': '2', 'queue-2': '4', 'queue-3': '3' });
      expect(Object.values(await statuses(names, 'preempting'))).toEqual([undefined, undefined, undefined]);
    }, PATIENCE_MS);
    const columns = ['name', 'spec.weight', 'status.deserved.cpu', 'status.allocated.cpu', 'status.used.cpu'];
    const shown = `custom-columns=${columns.map((path) => `${path}:.${path.replace(/^name$/, 'metadata.name')}`).join(',')}`;
    const { stdout } = await kubectl(own().cluster.kubeconfig, ['get', 'queues', '--no-headers', '-o', shown]);
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ +/));
    expect(rows).toEqual([
      ['queue-1', '2', '2', '2', '2'],
      ['queue-2', '4', '4', '4', '4'],
      ['queue-3', '3', '3', '3', '3'],
      ['root', '1', '9', '9', '9'],
    ]);
  });

  test(
    'a queue at what it deserves gives nothing and gets no more, and its waiting pods stay back (S4-7, S4-12)',
    TEST,
    async () => {
      await begin({ left: {}, right: {} }, [
        ...['a', 'b'].map((name): QueuePodPlan => ({ name, queue: 'left' })),
        ...['c', 'd'].map((name): QueuePodPlan => ({ name, queue: 'right' })),
      ]);
      for (const queue of ['left', 'right']) await createPod({ name: `more-${queue}`, queue });
      await eventually(async () => {
        for (const queue of ['left', 'right']) {
          const waits = `waits for 4 cpu: queue ${queue} is at its deserved 8`;
          expect(await scene.notes('WaitsInQueue', `more-${queue}`)).toEqual([waits]);
        }
      }, PATIENCE_MS);
      expect(await onNodes()).toEqual(['a', 'b', 'c', 'd']);
    },
  );

  test(
    'a queue whose maximum is lowered gives up one 2-CPU pod, and no other queue any (S4-3, S4-10)',
    TEST,
    async () => {
      const { given, then } = seed('s4-10') as Overuse;
      const id = (name: string): string => name.toLowerCase();
      const running = given.queues.flatMap(({ name, pods: ofQueue }) =>
        ofQueue.map((pod): QueuePodPlan => ({
          name: `${id(name)}-${pod.name}`,
          queue: id(name),
          cpu: String(pod.cpu),
        })),
      );
      await begin(Object.fromEntries(given.queues.map(({ name, weight }) => [id(name), { weight }])), running);
      for (const { name, allocated } of given.queues) {
        await scene.user()('PATCH', `${QUEUES}/${id(name)}`, { spec: { max: { cpu: allocated.cpu } } });
      }
      const [first, second] = given.queues.map(({ name }) => id(name));
      await eventually(async () => {
        expect(await statuses([first ?? '', second ?? ''], 'used')).toEqual({
          [first ?? '']: '3',
          [second ?? '']: '5',
        });
      }, PATIENCE_MS);
      const placed = await onNodes();
      const gone = running.map(({ name }) => name).filter((name) => !placed.includes(name));
      expect(then.victims[given.queues[0]?.name ?? '']?.oneOf?.map((name) => `${first}-${name}`)).toEqual(
        expect.arrayContaining(gone),
      );
      expect(gone).toHaveLength(1);
    },
  );

  test('what a queue has and no pod of it uses moves at once, without a removal (S4-5)', TEST, async () => {
    await begin(
      { left: {}, right: {} },
      ['a', 'b', 'c'].map((name): QueuePodPlan => ({ name, queue: 'left' })),
    );
    await createPod({ name: 'd', queue: 'right' });
    expect(await untilPlaced('d')).toEqual(['a', 'b', 'c', 'd']);
    expect(await scene.notes('Reclaimed')).toEqual([]);
  });

  test(
    'before any of its pods goes, no new pod of the giver enters, and its replacement waits (S4-6)',
    TEST,
    async () => {
      // Time to read the statuses before the first pod goes.
      await begin(
        { left: {}, right: { preemption: { delay: '6s' } } },
        ['a', 'b', 'c', 'd'].map((name): QueuePodPlan => ({ name, queue: 'left', graceSeconds: 1 })),
      );
      for (const name of ['e', 'f']) await createPod({ name, queue: 'right' });
      await createPod({ name: 'again', queue: 'left' });
      await eventually(async () => {
        expect(await statuses(['left', 'right'], 'allocated')).toEqual({ left: '8', right: '0' });
        expect(await statuses(['left', 'right'], 'preempting')).toMatchObject({ right: '8' });
        expect(await scene.notes('WaitsInQueue', 'again')).toEqual([
          'waits for 12 cpu: queue left is at its deserved 8',
        ]);
      }, PATIENCE_MS);
      expect(await onNodes()).toEqual(['a', 'b', 'c', 'd']);
      expect(isGated(await scene.get('again'))).toBe(true);
      await untilPlaced('f');
      expect(await untilPlaced('e')).toHaveLength(4);
      expect((await onNodes()).filter((name) => 'abcd'.includes(name))).toHaveLength(2);
      expect(isGated(await scene.get('again'))).toBe(true);
    },
  );
});
