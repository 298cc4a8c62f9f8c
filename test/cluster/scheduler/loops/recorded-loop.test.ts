import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { untilKnown } from '#test/cluster/scheduler/ask-extender.ts';
import { seedStage } from '#test/cluster/scheduler/seed-stage.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { at } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { ENFORCING_NODES } from '#test/cluster/scheduler/enforcing-nodes.ts';
import { NODE_POLICIES } from '#test/scheduler/nodes/node-policies.ts';

const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const TYPE = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure' };
const OWNERS = '/api/v1/namespaces/default/configmaps';
const PATIENCE_MS = 30_000;
const NODES = ['node-1', 'node-2'].map((name) => ({ name, capacity: 10 }));
const why = whyNoOwnCluster(process.env);

/** The other node holds a pod of higher priority, so kube-scheduler always prefers to preempt on the first one. */
describe.skipIf(why !== undefined)(`a recorded loop of preemptions on kube-scheduler${why ?? ''}`, () => {
  let port = 0;
  let scheduler: SchedulerProcess | undefined;
  let controller: SchedulerProcess | undefined;
  let ending: Promise<void>;
  const over = new AbortController();
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const verbs = { preemptVerb: 'preempt', filterVerb: 'filter', nodeCacheCapable: true };
    const entry = { urlPrefix: `http://127.0.0.1:${port}`, ...verbs };
    return { schedulerConfiguration: { extenders: [{ ...entry, ignorable: true, httpTimeout: '2s' }] } };
  });

  beforeAll(async () => {
    await installShippedSet(own());
    ending = endTerminatedPods(own().admin, over.signal);
  }, 120_000);
  afterAll(async () => {
    over.abort();
    await ending;
    await Promise.all([scheduler?.stop(), controller?.stop()]);
  });

  async function create(path: string, name: string, type: object = {}): Promise<unknown> {
    return eventually(async () => {
      const outcome = await own().admin.request({ method: 'POST', path, body: { ...type, metadata: { name } } });
      expect(outcome).toMatchObject({ kind: 'ok' });
      return at(outcome, 'object');
    }, PATIENCE_MS);
  }

  /** Starts the process anew. */
  async function run(...flags: readonly string[]): Promise<void> {
    await scheduler?.stop();
    const modes = ['--preemption-loops-mode=Enforce', ...flags];
    scheduler = await startShipped(own(), 'control-plane-extender', modes, { port });
  }

  /** Two owners `a` and `b`, whose pods ask for a whole node each. */
  async function play(id: string) {
    const filler = { name: 'c', node: 'node-2', priority: 55, request: 10, graceSeconds: 1 };
    const stage = seedStage(own(), id, { nodes: NODES, running: [filler] });
    await stage.build();
    const nodes = NODES.map(({ name }) => stage.nodeName(name));
    await eventually(async () => expect(await countReadyNodes(own().admin)).toBeGreaterThanOrEqual(2), PATIENCE_MS);
    for (const node of nodes) await create(PRESSURES, node, TYPE);
    // Nothing looks after the pods of a ConfigMap, so they come and go as the test says.
    const owners = new Map<string, object>();
    for (const name of ['a', 'b']) {
      const made = await create(OWNERS, `${id}-${name}`);
      const uid = at(made, 'metadata.uid');
      owners.set(name, { apiVersion: 'v1', kind: 'ConfigMap', name: `${id}-${name}`, uid, controller: true });
    }
    const start = (name: string, priority: number) =>
      stage.create({ name, priority, request: 10, graceSeconds: 1 }, [owners.get(name) ?? {}]);
    const isPlaced = (name: string, node: string) =>
      eventually(async () => expect((await stage.seen()).bound).toMatchObject({ [name]: node }), PATIENCE_MS);
    const place = async (name: string, priority: number) => {
      await start(name, priority);
      await isPlaced(name, 'node-1');
    };
    await place('a', 50);
    for (const round of [1, 3]) {
      await place('b', 100);
      await stage.end('b');
      await place('b', 1);
      if (round === 1) await place('a', 50);
    }
    await untilKnown({ admin: own().admin, port }, stage.nodeName('node-1'));
    return { stage, start, isPlaced };
  }

  const specOf = async (node: string) => at(await own().admin.request({ path: `${PRESSURES}/${node}` }), 'object.spec');

  test('the NodePressure of the node names both sides, and after a restart of the process the loop is still refused', async () => {
    await run();
    const { stage, start } = await play('refuse');
    const node = stage.nodeName('node-1');
    await eventually(async () => {
      expect(await specOf(node)).toMatchObject({
        preemptionLoops: [
          {
            preemptor: { namespace: 'default', kind: 'ConfigMap', name: 'refuse-b' },
            victim: { namespace: 'default', kind: 'ConfigMap', name: 'refuse-a' },
            rounds: [expect.any(String), expect.any(String), expect.any(String)],
            priority: 50,
            action: 'Refuse',
          },
        ],
      });
    }, PATIENCE_MS);
    const before = await specOf(node);
    await run();
    await untilKnown({ admin: own().admin, port }, node);
    await start('a', 50);
    await eventually(
      async () => expect(await scheduler?.metrics()).toMatch(/preemption_loops_total\{mode="Enforce"\} [1-9]/),
      PATIENCE_MS,
    );
    expect(await stage.seen()).toMatchObject({ terminating: [], nominated: {}, pending: ['a'] });
    expect(await stage.here()).toEqual(['b', 'c']);
    expect(await specOf(node)).toEqual(before);
  }, 180_000);

  test('with the action Avoid the owner that gave way last is kept away, and its next pod ends the loop on another node', async () => {
    const created = await own().admin.request({ method: 'POST', path: NODE_POLICIES, body: ENFORCING_NODES });
    expect(created).toMatchObject({ kind: 'ok' });
    controller = await startShipped(own(), 'node-controller');
    await run('--preemption-loops-action=Avoid');
    const { stage, start, isPlaced } = await play('avoid');
    const owner = { namespace: 'default', kind: 'ConfigMap', name: 'avoid-a' };
    await eventually(async () => {
      expect(await specOf(stage.nodeName('node-1'))).toMatchObject({
        avoid: [{ owner, hard: false }],
        preemptionLoops: [{ victim: owner, action: 'Avoid' }],
      });
    }, PATIENCE_MS);
    await start('a', 60);
    await isPlaced('a', 'node-2');
    expect(await stage.here()).toEqual(['a', 'b']);
  }, 180_000);
});
