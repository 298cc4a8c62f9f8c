import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at } from '#test/contract/harness.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { untilKnown } from '#test/cluster/scheduler/ask-extender.ts';
import { seedStage } from '#test/cluster/scheduler/seed-stage.ts';
import { eventually } from '#test/build/waiting.ts';

const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const PATIENCE_MS = 30_000;
const GIVEN = { nodes: [{ name: 'node-1', capacity: 10 }], running: [] };
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`two pods that preempt each other on kube-scheduler${why ?? ''}`, () => {
  let port = 0;
  let extender: SchedulerProcess;
  let ending: Promise<void>;
  const over = new AbortController();
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const entry = { urlPrefix: `http://127.0.0.1:${port}`, preemptVerb: 'preempt', nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...entry, ignorable: true, httpTimeout: '2s' }] } };
  });

  beforeAll(async () => {
    const { admin } = own();
    await installShippedSet(own());
    extender = await startShipped(own(), 'control-plane-extender', ['--preemption-loops-mode=Enforce'], {
      port,
    });
    ending = endTerminatedPods(admin, over.signal);
    const body = { metadata: { name: 'c' }, spec: { minAvailable: 1, selector: { matchLabels: { seed: 'c' } } } };
    expect(await admin.request({ method: 'POST', path: BUDGETS, body })).toMatchObject({ kind: 'ok' });
  }, 60_000);
  afterAll(async () => {
    over.abort();
    await ending;
    await extender.stop();
  });

  const stage = () => seedStage(own(), 's0-21', GIVEN);
  const isPlaced = (name: string) => eventually(async () => expect(await stage().here()).toEqual([name]), PATIENCE_MS);
  /** Each asks for the whole node. Of `b` some pods have a higher and some a lower priority than those of `a`. */
  const create = (name: string, priority: number) => stage().create({ name, priority, request: 10, graceSeconds: 1 });

  async function loops(): Promise<readonly unknown[]> {
    const events = at(await own().admin.request({ path: EVENTS }), 'object.items') as readonly unknown[];
    return events.filter((event) => at(event, 'reason') === 'PreemptionLoopDetected');
  }

  /** Pods that were preempted, by what became of their budgets. */
  async function preempted(): Promise<object> {
    const metrics = await extender.metrics();
    const count = (budget: string): number =>
      Number(new RegExp(`preempted_pods_total\\{budget="${budget}"\\} (\\d+)`).exec(metrics)?.[1] ?? 0);
    return { Kept: count('Kept'), Breached: count('Breached') };
  }

  test('three rounds within an hour are allowed, the fourth is refused, and both are named (S0-21)', async () => {
    await stage().build();
    await eventually(async () => expect(await countReadyNodes(own().admin)).toBe(1), PATIENCE_MS);
    await create('a', 50);
    await isPlaced('a');
    for (const round of [1, 3]) {
      await create('b', 100);
      await isPlaced('b');
      await stage().end('b');
      await create('b', 1);
      await isPlaced('b');
      if (round === 3) break;
      await create('a', 50);
      await isPlaced('a');
    }
    await untilKnown({ admin: own().admin, port }, stage().nodeName('node-1'));
    expect(await loops()).toEqual([]);
    await create('a', 50);
    await eventually(async () => {
      expect(await loops()).toMatchObject([{ regarding: { name: 's0-21-a' }, related: { name: 's0-21-b' } }]);
    }, PATIENCE_MS);
    expect(await stage().seen()).toMatchObject({ terminating: [], nominated: {}, pending: ['a'] });
    expect(await stage().here()).toEqual(['b']);
  }, 180_000);

  test('a pod of higher priority is not refused for what lower ones did', async () => {
    await stage().end('a');
    await create('a', 51);
    await isPlaced('a');
  }, 60_000);

  test('any other pod still preempts', async () => {
    await create('c', 60);
    await isPlaced('c');
  }, 60_000);

  test('every preemption was counted, and one of a pod whose budget has nothing left is counted as a breach (S1-17)', async () => {
    expect(await preempted()).toEqual({ Kept: 5, Breached: 0 });
    await create('d', 70);
    await isPlaced('d');
    expect(await preempted()).toEqual({ Kept: 5, Breached: 1 });
  }, 60_000);
});
