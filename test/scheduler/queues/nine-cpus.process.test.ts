import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '#test/build/waiting.ts';
import { at } from '#test/contract/harness.ts';
import { processScene } from '#test/scheduler/process-scene.ts';
import { seed } from '#test/shared/domain/queue/builders.ts';

const TIMEOUT_MS = 60_000;
const PATIENCE_MS = 15_000;
const QUEUES = '/apis/plimsoll.dev/v1alpha1/queues';
const PODS = '/api/v1/namespaces/shop/pods';
const GATE = 'plimsoll.dev/queue';
const FLAGS = ['--extender=Off', '--nodes-passes=Off', '--queues-passes=On'];

interface Amounts {
  readonly cpu: number;
  readonly memory: string;
}

interface SeedQueue {
  readonly name: string;
  readonly weight: number;
  readonly deserved?: Amounts;
  readonly allocated: Amounts;
  readonly used: Amounts;
  readonly preempting?: Amounts;
  readonly pods: readonly (Amounts & { readonly name: string; readonly state?: string })[];
}

interface NineCpus {
  readonly given: { readonly total: Amounts; readonly queues: readonly SeedQueue[] };
  readonly then: readonly { readonly queues: readonly SeedQueue[] }[];
}

const { given, then } = seed('s4-9') as NineCpus;
const NOTHING: Amounts = { cpu: 0, memory: '0Gi' };

describe('the 9-CPU example with its two types, by the status of the queues', { timeout: TIMEOUT_MS }, () => {
  const { send, start } = processScene();
  const id = (name: string): string => name.toLowerCase();

  beforeAll(async () => {
    const allocatable = { cpu: String(given.total.cpu), memory: given.total.memory, pods: '110' };
    await send('POST', '/api/v1/nodes', { metadata: { name: 'node-0' }, status: { allocatable } });
    await send('POST', '/api/v1/namespaces', {
      metadata: { name: 'shop', labels: { 'plimsoll.dev/queues': 'managed' } },
    });
    await queue('root', { reclaim: { mode: 'Enforce', by: 'Shares' } });
    for (const { name, weight } of given.queues) await queue(id(name), { weight });
    await start(FLAGS);
  }, PATIENCE_MS);

  /** The delay is longer than it takes to create the pods of the third queue. */
  async function queue(name: string, spec: object): Promise<void> {
    const preemption = { delay: '3s' };
    const selected = name === 'root' ? {} : { namespaceSelector: {}, preemption };
    const body = {
      apiVersion: 'plimsoll.dev/v1alpha1',
      kind: 'Queue',
      metadata: { name },
      spec: { ...selected, ...spec },
    };
    await send('POST', QUEUES, body);
  }

  async function createPod(queueName: string, name: string, { cpu, memory }: Amounts): Promise<void> {
    const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: String(cpu), memory } } }];
    const metadata = { name: `${queueName}-${name}`, labels: { [GATE]: queueName } };
    await send('POST', PODS, { metadata, spec: { containers, schedulingGates: [{ name: GATE }] } });
  }

  /** As kube-scheduler and the kubelet, once the gate is off. */
  async function run(name: string): Promise<void> {
    await eventually(async () => {
      expect(at(await send('GET', `${PODS}/${name}`), 'spec.schedulingGates') ?? []).toEqual([]);
    }, PATIENCE_MS);
    await send('POST', `${PODS}/${name}/binding`, { metadata: { name }, target: { kind: 'Node', name: 'node-0' } });
    await send('PATCH', `${PODS}/${name}/status`, { status: { phase: 'Running' } });
  }

  async function terminating(): Promise<readonly string[]> {
    const pods = at(await send('GET', PODS), 'items') as readonly object[];
    const ending = pods.filter((pod) => at(pod, 'metadata.deletionTimestamp') !== undefined);
    return ending.map((pod) => String(at(pod, 'metadata.name'))).sort();
  }

  /** CPUs and Gi of one field of the status, by queue. */
  async function column(field: string, names: readonly string[]) {
    const read = async (name: string) => {
      const amounts = at(await send('GET', `${QUEUES}/${name}`), `status.${field}`) as
        Readonly<Record<string, string>> | undefined;
      return [name, [Number(amounts?.['cpu'] ?? 0), Number.parseInt(amounts?.['memory'] ?? '0', 10)]] as const;
    };
    return Object.fromEntries(await Promise.all(names.map(read)));
  }

  function columnOf(queues: readonly SeedQueue[], field: 'deserved' | 'allocated' | 'used' | 'preempting') {
    const pair = ({ cpu, memory }: Amounts) => [cpu, Number.parseInt(memory, 10)];
    return Object.fromEntries(queues.map((each) => [id(each.name), pair(each[field] ?? NOTHING)]));
  }

  /** The rows of the table, and that both parts of all queues, and of the root, are what there is. */
  async function expectStep(queues: readonly SeedQueue[]): Promise<void> {
    const names = queues.map(({ name }) => id(name));
    const hasDeserved = queues.every(({ deserved }) => deserved !== undefined);
    await eventually(async () => {
      for (const field of ['allocated', 'preempting', ...(hasDeserved ? (['deserved'] as const) : [])] as const)
        expect({ [field]: await column(field, names) }).toEqual({ [field]: columnOf(queues, field) });
      // The example counts no pods of the queue that arrives.
      expect(await column('used', names)).toMatchObject(columnOf(queues.slice(0, 2), 'used'));
      const root = [
        ...Object.values(await column('allocated', ['root'])),
        ...Object.values(await column('preempting', ['root'])),
      ];
      expect(sumOf(root)).toEqual([9, 27]);
    }, PATIENCE_MS);
    const parts = [await column('allocated', names), await column('preempting', names)];
    expect(sumOf(parts.flatMap((each) => Object.values(each)))).toEqual([9, 27]);
  }

  test('deserved is that of its tables, and allocated and preempting are the total at each step, in each type (S4-2, S4-4, S4-9, S4-15)', async () => {
    const [, during, after] = then.map(({ queues }) => queues) as [SeedQueue[], SeedQueue[], SeedQueue[]];
    for (const { name, pods } of given.queues) {
      for (const pod of pods) {
        await createPod(id(name), pod.name, pod);
        await run(`${id(name)}-${pod.name}`);
      }
    }
    // Each would take all there is, so that the queues share the whole.
    for (const { name } of given.queues) await createPod(id(name), 'more', given.total);
    await expectStep(given.queues);

    await queue('queue-3', { weight: 3 });
    const [first, ...others] = ['pod-0', 'pod-1', 'pod-2'] as const;
    await createPod('queue-3', first, { cpu: 1, memory: '3Gi' });
    await run(`queue-3-${first}`);
    for (const name of others) await createPod('queue-3', name, { cpu: 1, memory: '3Gi' });
    const victims = during.flatMap(({ name, pods }) =>
      pods.filter(({ state }) => state === 'Terminating').map((pod) => `${id(name)}-${pod.name}`),
    );
    await eventually(async () => expect(await terminating()).toEqual(victims), PATIENCE_MS);
    await expectStep(during);

    for (const name of victims) await send('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0 });
    await expectStep(after);
    for (const name of others) await run(`queue-3-${name}`);
  });
});

function sumOf(pairs: readonly (readonly number[])[]): readonly number[] {
  return [0, 1].map((type) => pairs.reduce((sum, pair) => sum + (pair[type] ?? 0), 0));
}
