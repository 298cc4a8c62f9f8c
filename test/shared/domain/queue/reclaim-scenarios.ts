import fc from 'fast-check';
import type { JudgedCase } from '#test/conformance/queue-judge.ts';

const QUEUES = ['root.a', 'root.b', 'root.c', 'root.c.1', 'root.c.2', 'root.b.1', 'root.b.2'] as const;
const LEAVES = ['root.a', 'root.b.1', 'root.b.2', 'root.c.1', 'root.c.2'] as const;
const NODES = ['n1', 'n2', 'n3'] as const;

const amounts = (most: number) => fc.record({ cpu: fc.nat(most), memory: fc.nat(most) }, { requiredKeys: ['cpu'] });
const policy = fc.oneof(
  { weight: 5, arbitrary: fc.constant('default') },
  { weight: 1, arbitrary: fc.constantFrom('fence', 'disabled') },
);
const mostly = (value: boolean) => fc.oneof({ weight: 6, arbitrary: fc.constant(value) }, fc.boolean());

const pod = fc.record({
  queue: fc.constantFrom(...LEAVES),
  app: fc.constantFrom('x', 'y', 'z'),
  priority: fc.nat(2),
  request: amounts(4),
  node: fc.constantFrom(...NODES),
  allowPreemption: mostly(true),
  originator: mostly(false),
  startTime: fc.nat(30).map((second) => new Date(second * 1_000).toISOString()),
});

const queueOf = (name: string) =>
  fc
    .record({ guaranteed: amounts(4), max: fc.option(amounts(20), { freq: 3 }), policy }, { requiredKeys: ['policy'] })
    .map(({ max, ...rest }) => ({ name, parent: name.slice(0, name.lastIndexOf('.')), ...rest, ...limit(max) }));

const limit = (max: Readonly<Record<string, number>> | null | undefined) =>
  max === null || max === undefined ? {} : { max };

/** Small trees, three nodes and one pod that waits: lawful sets, sets that only just break a law, and none. */
export const scenarios: fc.Arbitrary<JudgedCase> = fc
  .record({
    queues: fc.tuple(...QUEUES.map(queueOf)),
    running: fc.array(pod, { minLength: 1, maxLength: 12 }),
    spare: fc.array(fc.nat(2), { minLength: 6, maxLength: 6 }),
    promised: fc.option(amounts(12), { freq: 6 }),
    pending: fc.record({
      queue: fc.constantFrom(...LEAVES),
      app: fc.constantFrom('x', 'y', 'z'),
      priority: fc.nat(2),
      request: amounts(7),
    }),
  })
  .map(({ queues: drawn, running, spare, promised, pending }) => {
    const queues = drawn.map((each) =>
      promised !== null && each.name === pending.queue ? { ...each, guaranteed: promised } : each,
    );
    const pods = running.map((each, index) => ({ ...each, name: `pod-${index}` }));
    const nodes = NODES.map((name, index) => {
      const here = pods.filter(({ node }) => node === name);
      const sum = (type: 'cpu' | 'memory') => here.reduce((all, { request }) => all + (request[type] ?? 0), 0);
      return {
        name,
        capacity: { cpu: sum('cpu') + (spare[index] ?? 0), memory: sum('memory') + (spare[index + 3] ?? 0) },
      };
    });
    return { queues: [{ name: 'root' }, ...queues], nodes, running: pods, pending: { ...pending, name: 'pending' } };
  });
