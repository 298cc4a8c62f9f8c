import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAgentProcess } from '#test/cluster/support/agent-process.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { type MeasuredPod, memorySummary, startFakeKubelet } from '#test/cluster/support/fake-kubelet.ts';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at } from '#test/contract/harness.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { readSeed, type SeedPod } from '#test/shared/domain/preemption/seed-cluster.ts';
import { untilKnown, untilScores } from './ask-extender.ts';
import { type SeedStage, seedStage } from './seed-stage.ts';
import { eventually } from '#test/build/waiting.ts';

const DEFINITIONS = fileURLToPath(new URL('../../../deploy/crds', import.meta.url));
const POLICIES = '/apis/plimsoll.dev/v1alpha1/nodepressurepolicies';
const PATIENCE_MS = 60_000;
/** 2 GB, of which the two pods in the end use all but this. */
const CAPACITY_MIB = 1_907;
const [SHORT_MIB, ENOUGH_MIB] = [10, 900];
/**
 * `p` uses more than 1 GB. By share of request it is evicted only where it uses more than the 2 GB that it requests: no pod
 * within its request goes in place of one above (docs/contributing/decisions/within-request.md).
 */
const USAGE_MIB = { kubernetes: { 'best-effort': 954, p: 1_000 }, shareOfRequest: { 'best-effort': 954, p: 1_950 } };
const MEASURED = ['best-effort', 'p'] as const;
const PRESETS = { kubernetes: 'Kubernetes', shareOfRequest: 'ShareOfRequest' } as const;
const why = whyNoOwnCluster(process.env);

interface Step {
  readonly victims?: readonly string[];
  readonly podsOnNode?: readonly string[];
  readonly evicted?: readonly string[] | Readonly<Record<string, readonly string[]>>;
}
type Order = keyof typeof PRESETS;

describe.skipIf(why !== undefined)(`preemption, then memory pressure, with extender and agent${why ?? ''}`, () => {
  let port = 0;
  let scheduler: SchedulerProcess;
  let ending: Promise<void>;
  const over = new AbortController();
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const verbs = { preemptVerb: 'preempt', filterVerb: 'filter' };
    const entry = { urlPrefix: `http://127.0.0.1:${port}`, ...verbs, nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...entry, ignorable: true, httpTimeout: '2s' }] } };
  });

  beforeAll(async () => {
    const { admin, cluster } = own();
    const applied = await kubectl(cluster.kubeconfig, ['apply', '--server-side', '-k', DEFINITIONS]);
    expect([applied.status, applied.stderr]).toEqual([0, '']);
    scheduler = await startSchedulerProcess(cluster.kubeconfig, port, ['--leader-election-namespace=default']);
    ending = endTerminatedPods(admin, over.signal);
  }, 120_000);
  afterAll(async () => {
    over.abort();
    await ending;
    await scheduler.stop();
  });

  async function untilReady(id: string, count: number): Promise<void> {
    const ready = () => countReadyNodes(own().admin, { labelSelector: `example=${id}` });
    await eventually(async () => expect(await ready()).toBe(count), PATIENCE_MS);
  }

  /** The running pods with a short grace period, and the policy by which the agent of the node evicts. */
  async function build(id: string, seed: string, order: Order): Promise<SeedStage> {
    const { given } = readSeed(seed);
    const stage = seedStage(own(), id, {
      ...given,
      running: given.running.map((each) => ({ ...each, graceSeconds: 3 })),
    });
    await stage.build();
    await untilReady(id, 1);
    for (const { name } of given.running) await stage.run(name);
    await untilKnown({ admin: own().admin, port }, stage.nodeName('node-1'));
    const spec = {
      mode: 'Enforce',
      nodeSelector: { matchLabels: { example: id } },
      ranking: { preset: PRESETS[order] },
      evictionHard: { 'memory.available': '100Mi' },
      avoidFor: '60s',
      avoidance: { mode: 'Enforce' },
    };
    const body = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressurePolicy', metadata: { name: id }, spec };
    expect(await own().admin.request({ method: 'POST', path: POLICIES, body })).toMatchObject({ kind: 'ok' });
    return stage;
  }

  async function measured(stage: SeedStage, id: string, order: Order): Promise<readonly MeasuredPod[]> {
    return Promise.all(
      MEASURED.map(async (name) => {
        const uid = await stage.uidOf(name);
        return { namespace: 'default', name: `${id}-${name}`, uid, mebibytes: USAGE_MIB[order][name] };
      }),
    );
  }

  /** The agent of the node runs until `isOver`, in a shortage that ends when a pod has gone. Resolves with who went. */
  async function evictions(stage: SeedStage, id: string, order: Order): Promise<readonly string[]> {
    const pods = await measured(stage, id, order);
    const state = { availableMebibytes: SHORT_MIB, capacityMebibytes: CAPACITY_MIB };
    const nodeName = stage.nodeName('node-1');
    const kubelet = await startFakeKubelet(() => memorySummary(nodeName, state, pods));
    const agent = await startAgentProcess({ kubeconfig: own().cluster.kubeconfig, nodeName, kubeletUrl: kubelet.url });
    try {
      const went = await eventually(async () => {
        const evicted = await evictedOf(stage);
        expect(evicted).not.toEqual([]);
        return evicted;
      }, PATIENCE_MS);
      state.availableMebibytes = ENOUGH_MIB;
      await eventually(async () => expect(await status(nodeName, 'evictions.0.endedAt')).toBeDefined(), PATIENCE_MS);
      await eventually(async () => expect(await status(nodeName, 'signals.0.state')).toBe('Far'), PATIENCE_MS);
      expect((await stage.seen()).terminating).toEqual([]);
      return went;
    } finally {
      await Promise.all([agent.stop(), kubelet.close()]);
    }
  }

  /** On a slow machine a pod may be gone before it was seen to terminate. */
  async function evictedOf(stage: SeedStage): Promise<readonly string[]> {
    const [here, { terminating }] = await Promise.all([stage.here(), stage.seen()]);
    return MEASURED.filter((name) => !here.includes(name) || terminating.includes(name));
  }

  async function status(node: string, path: string): Promise<unknown> {
    const outcome = await own().admin.request({ path: `/apis/plimsoll.dev/v1alpha1/nodepressures/${node}` });
    return at(outcome, `object.status.${path}`);
  }

  /** An owner that the garbage collector finds, and that creates no pods by itself. */
  async function createOwner(name: string): Promise<readonly object[]> {
    const path = '/api/v1/namespaces/default/configmaps';
    const made = await own().admin.request({ method: 'POST', path, body: { metadata: { name } } });
    const uid = String(at(made, 'object.metadata.uid'));
    return [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, controller: true }];
  }

  async function preemptThenEvict(seed: string, order: Order) {
    const id = `${seed}-${order}`.toLowerCase();
    const { given, then } = readSeed<readonly Step[]>(seed);
    const stage = await build(id, seed, order);
    const owners = await createOwner(id);
    const pending = given.pending as SeedPod;
    await stage.create(pending, owners);
    await eventually(async () => expect((await stage.seen()).terminating).toEqual(then[0]?.victims), PATIENCE_MS);
    await eventually(async () => expect((await stage.seen()).bound).toEqual({ p: 'node-1' }), PATIENCE_MS);
    await stage.run('p');
    expect(await stage.here()).toEqual(['best-effort', 'p']);
    const evicted = then.find((step) => step.evicted !== undefined)?.evicted;
    const expected = Array.isArray(evicted) ? evicted : (evicted as Readonly<Record<string, unknown>>)[order];
    return { id, stage, owners, pending, expected };
  }

  test.concurrent.each<[string, Order]>([
    ['s0-17', 'kubernetes'],
    ['s0-17', 'shareOfRequest'],
    ['s0-18', 'kubernetes'],
  ])(
    '%s, order %s: victim and evicted pod are those of the table',
    async (seed, order) => {
      const { stage, id, expected } = await preemptThenEvict(seed, order);
      expect(await evictions(stage, id, order)).toEqual(expected);
    },
    240_000,
  );

  test.concurrent(
    's0-18, order shareOfRequest: the evicted pod keeps off the node for a while',
    async () => {
      const { stage, id, owners, pending, expected } = await preemptThenEvict('s0-18', 'shareOfRequest');
      await stage.addNode({ name: 'node-2', memoryCapacity: '2G' });
      await untilReady(id, 2);
      const [first, second] = [stage.nodeName('node-1'), stage.nodeName('node-2')];
      await makeUnwanted(second);
      expect(await evictions(stage, id, 'shareOfRequest')).toEqual(expected);
      await untilScores(port, { [first]: 10, [second]: 10 });
      await untilScores(port, { [first]: 0, [second]: 10 }, owners);
      expect(await placeOf(stage, { ...pending, name: 'replacement' }, owners)).toBe('node-2');
      expect(await placeOf(stage, { ...pending, name: 'other' })).toBe('node-1');
      await stage.end('replacement');
      await stage.end('other');
      await untilScores(port, { [first]: 10, [second]: 10 }, owners);
      expect(await placeOf(stage, { ...pending, name: 'later' }, owners)).toBe('node-1');
    },
    300_000,
  );

  /** kube-scheduler prefers the other node, unless something speaks against that one. */
  async function makeUnwanted(node: string): Promise<void> {
    const body = { spec: { taints: [{ key: 'unwanted', effect: 'PreferNoSchedule' }] } };
    const path = `/api/v1/nodes/${node}`;
    await own().admin.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
  }

  async function placeOf(stage: SeedStage, seedPod: SeedPod, owners: readonly object[] = []): Promise<unknown> {
    await stage.create(seedPod, owners);
    return eventually(async () => {
      const { bound } = await stage.seen();
      expect(bound[seedPod.name]).toBeDefined();
      return bound[seedPod.name];
    }, PATIENCE_MS);
  }
});
