import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folderWith, removeFolders, runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { createCrowd, nodesByPod, podObject, PODS, post, randomCrowd, removeAll } from './crowded-nodes.ts';
import { eventually } from '#test/build/waiting.ts';

afterAll(removeFolders);

const why = whyNoOwnCluster(process.env);
const PATIENCE_MS = 30_000;
const SEED = 20_260_101;
const ROUNDS = 8;
const CLASSES = { 'class-10': 10, 'class-20': 20, 'class-30': 30, 'class-40': 40, pending: 35, high: 1_000 };
const CROWD_CLASSES = ['class-10', 'class-20', 'class-30', 'class-40'];
const ZONE = 'topology.kubernetes.io/zone';

interface Simulated {
  readonly outcome: string;
  readonly nodes: readonly string[];
  readonly equalNodes: readonly string[];
  readonly candidates: readonly { readonly node: string; readonly victims: readonly string[] }[];
}

describe.skipIf(why !== undefined)(`the command line and kube-scheduler${why ?? ''}`, () => {
  const own = ownCluster();
  const random = randomSource(SEED).next;
  let nodes: readonly string[] = [];

  beforeAll(async () => {
    const { admin } = own();
    nodes = await makeFakeNodes(admin, 'node', 4);
    for (const [name, value] of Object.entries(CLASSES))
      await post(admin, '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value });
    const spec = { minAvailable: 1, selector: { matchLabels: { budget: 'kept' } } };
    await post(admin, '/apis/policy/v1/namespaces/default/poddisruptionbudgets', { metadata: { name: 'kept' }, spec });
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(4), PATIENCE_MS);
  }, 120_000);

  const kubeconfig = () => own().cluster.kubeconfig;

  async function snapshot(...flags: readonly string[]): Promise<string> {
    const file = join(folderWith({}), 'cluster.json');
    const { code, stderr } = await runPlimsoll(['snapshot', '-o', file, '--kubeconfig', kubeconfig(), ...flags]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Wrote ')]);
    return file;
  }

  async function simulated(file: string): Promise<Simulated> {
    const args = ['simulate', 'preempt', '-f', file, '--pod', 'default/pending', '--no-extender', '-o', 'json'];
    const { stdout, stderr } = await runPlimsoll(args);
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Simulated;
  }

  async function openGate(): Promise<void> {
    const contentType = 'application/merge-patch+json';
    const body = { spec: { schedulingGates: null } };
    const outcome = await own().admin.request({ method: 'PATCH', path: `${PODS}/pending`, contentType, body });
    expect(outcome).toMatchObject({ kind: 'ok' });
  }

  async function lastAttempt(name: string): Promise<string> {
    const found = await own().admin.request({ path: `${PODS}/${name}` });
    return textAt(found, 'object.status.conditions.0.message');
  }

  test.each(Array.from({ length: ROUNDS }, (_, round) => round))(
    `round %i: the pod goes where it was said, and the pods that were named go for it (seed ${SEED})`,
    async () => {
      const { admin } = own();
      await createCrowd(admin, randomCrowd(nodes, CROWD_CLASSES, random));
      await post(
        admin,
        PODS,
        podObject('pending', { className: 'pending', cpu: 3 + Math.floor(random() * 5), gated: true }),
      );
      const before = await nodesByPod(admin);
      const { outcome, nodes: chosen, equalNodes, candidates } = await simulated(await snapshot());
      await openGate();
      if (outcome === 'notPlaceable') {
        await eventually(async () => expect(await lastAttempt('pending')).toMatch(/preemption: 0\/4/), PATIENCE_MS);
        expect(await nodesByPod(admin)).toEqual(before);
      } else {
        await eventually(async () => expect((await nodesByPod(admin)).has('pending')).toBe(true), PATIENCE_MS);
        const after = await nodesByPod(admin);
        const node = after.get('pending') ?? '';
        const gone = [...before.keys()].filter((name) => !after.has(name)).map((name) => `default/${name}`);
        expect([...chosen, ...equalNodes]).toContain(node);
        expect(gone.toSorted()).toEqual(candidates.find((each) => each.node === node)?.victims.toSorted());
      }
      await removeAll(admin);
      await eventually(async () => expect((await nodesByPod(admin)).size).toBe(0), PATIENCE_MS);
    },
    120_000,
  );

  test('why-not names the pod on another node, says what kube-scheduler says, and no pod goes (S1-21)', async () => {
    const { admin } = own();
    const contentType = 'application/merge-patch+json';
    for (const node of nodes) {
      const body = { metadata: { labels: { [ZONE]: 'a' } } };
      await admin.request({ method: 'PATCH', path: `/api/v1/nodes/${node}`, contentType, body });
    }
    await post(admin, PODS, podObject('blocker', { className: 'high', cpu: 1, nodeName: 'node-1' }));
    const term = { topologyKey: ZONE, labelSelector: { matchLabels: { app: 'blocker' } } };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    await post(admin, PODS, podObject('blocked', { className: 'pending', cpu: 1, affinity }));
    await eventually(async () => expect(await lastAttempt('blocked')).toMatch(/preemption: 0\/4/), PATIENCE_MS);

    const file = await snapshot();
    const args = ['why-not', 'default/blocked', '--no-extender', '-o', 'json'];
    const [saved, live] = await Promise.all([
      runPlimsoll([...args, '-f', file]),
      runPlimsoll([...args, '--kubeconfig', kubeconfig()]),
    ]);
    expect(JSON.parse(saved.stdout)).toEqual(JSON.parse(live.stdout));
    const answer: unknown = JSON.parse(live.stdout);
    expect(at(answer, 'explanations.0')).toMatchObject({
      code: 'BlockedFromOtherNode',
      facts: { node: 'node-0', pod: 'default/blocker', podNode: 'node-1' },
    });
    const said = String(at(answer, 'because.text')).replace('it would not be placed on any node: ', '');
    expect(await lastAttempt('blocked')).toContain(`preemption: ${said}`);
    expect([...(await nodesByPod(admin)).keys()]).toEqual(['blocker']);
  }, 120_000);

  test('a redacted snapshot of it holds no name', async () => {
    const { stdout } = await runPlimsoll(['snapshot', '--redact', '--kubeconfig', kubeconfig()]);
    expect([stdout.includes('"kind":"Pod"'), /blocked|blocker/.exec(stdout)?.[0]]).toEqual([true, undefined]);
  });
});
