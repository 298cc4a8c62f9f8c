import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { forwardPort } from '#cli/dashboard/forward-port.ts';
import { loadKubeconfig } from '#shared/kube/client/kubeconfig-connection.ts';
import { at, textAt } from '#test/contract/harness.ts';
import {
  agentAgeMs,
  agentLog,
  agentRestarts,
  allowForSlowness,
  healthPort,
  installAgent,
  pressureStatus,
  readyAgents,
  usageByPod,
} from './agent-on-node.ts';
import { call } from './kube-calls.ts';
import { NODE_NAME } from './node-place.ts';
import { WORKLOAD_IMAGE } from './image/workload-image.ts';
import type { NodeUnderTest, RunningNode } from './node-under-test.ts';
import { askKubelet } from './ask-kubelet.ts';
import { applyPolicy, evictedEvents } from './evicting-policy.ts';
import { makePod, podPath, type Workload } from './make-pod.ts';
import { KEPT, makeReplicas, STALLED, startRescheduler } from './moves-on-node.ts';
import { type MoveScene, refusalTest, stallTest, usageTest } from './move-tests.ts';
import { killedAgentTest, throttleTests } from './throttle-tests.ts';
import { testClient } from '#test/cluster/support/control-plane/test-client.ts';
import { eventually } from '#test/build/waiting.ts';

const MEBIBYTE = 1_048_576;
/*
 * Other programs of the machine take and give back memory too. So each threshold is set from what is available just then,
 * this far from it, and a hog takes a good deal more than that.
 */
const AGENT_MARGIN = 600 * MEBIBYTE;
const KUBELET_MARGIN = 1_600 * MEBIBYTE;
const SHORTAGE = 700 * MEBIBYTE;
/** A machine with less has other worries. */
const NEVER = MEBIBYTE;
const ALWAYS_SHORT = '99%';
/** Slow enough for a soft threshold to have its second, fast enough for the ten of the kubelet. */
const HOG: Workload = { name: 'hog', mebibytes: 2_200, mebibytesPerSecond: 300 };
/** With time for clocks that differ. */
const WARM_UP_MS = 35_000;
const TIMEOUT_MS = 240_000;

/** They keep to their requests, so the agent leaves them alone while a soft threshold is all that is met. */
const STEADY: readonly Workload[] = [
  { name: 'guaranteed', mebibytes: 96, requestMebibytes: 160, isGuaranteed: true },
  { name: 'burstable', mebibytes: 320, requestMebibytes: 400 },
];
const LENT: Workload = { name: 'lent', mebibytes: 700, spareMebibytes: 800 };
/** It keeps to its request, and takes more than was left for it while another pod runs in spare room. */
const IMPORTANT: Workload = { name: 'important', mebibytes: 900, mebibytesPerSecond: 40, requestMebibytes: 1_000 };
const UNBOUNDED: Workload = { name: 'best-effort', mebibytes: 64 };
/** The agent leaves the pods of this namespace alone, the kubelet does not. */
const THEIRS = { name: 'theirs', namespace: 'ignored', mebibytes: 1_800 } satisfies Workload;
const OURS: Workload = { name: 'ours', mebibytes: 700 };
const FORGED = { name: 'forged-mirror' };
const PRIORITY_POLICIES = '/apis/plimsoll.dev/v1alpha1/prioritypolicies';
const GRANT = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'PriorityPolicy',
  metadata: { name: 'lend' },
  spec: { runOn: 'Either' },
};
const NAMESPACES = '/api/v1/namespaces';
/** Five more minutes, in which the pods that may be moved grow old enough (docs/contributing/testing.md). */
const WITH_MOVES = process.env['PLIMSOLL_NODE_MOVES'] === 'on';
const CLOSING = { headers: { connection: 'close' } };

const KUBELET_WORDS =
  /^The node was low on resource: memory\. Threshold quantity: \d+\w*, available: \d+\w*\. Container main was using \d+Ki, request is 0, has larger consumption of memory\. $/;

/** What the agent of deploy/base does on a real node, whatever node that is. */
export function nodeSuite(under: NodeUnderTest): void {
  describe(`the agent on a real node, ${under.title}`, { timeout: TIMEOUT_MS * under.patience }, () => {
    let node: RunningNode;
    let client: KubeClient;
    const within = <T>(seconds: number, expectation: () => Promise<T>): Promise<T> =>
      eventually(expectation, seconds * 1_000 * under.patience);
    /** `allowForSlowness` takes it away: without it nobody looks at what a pod requests. */
    const runsWebhook = under.patience === 1;
    const moves: MoveScene = { client: () => client, within, patience: under.patience };
    const get = (path: string): Promise<unknown> => call(client, { path });

    beforeAll(async () => {
      node = await under.start();
      client = await testClient(node.kubeconfig);
      await installAgent(node, client);
      if (!runsWebhook) await allowForSlowness(client, under.patience);
      for (const workload of [...STEADY, UNBOUNDED]) await makePod(client, workload);
      if (WITH_MOVES)
        for (const replicas of under.measuresStalls ? [KEPT, STALLED] : [KEPT]) await makeReplicas(client, replicas);
      const rescheduler = await startRescheduler(node.kubeconfig, client);
      return async () => {
        await rescheduler.stop();
        client.close();
        await node.close();
      };
    }, TIMEOUT_MS * under.patience);

    // Each test builds on those before it, and waits long for what then does not come.
    let hasFailed = false;
    beforeEach(({ skip, onTestFailed }) => {
      skip(hasFailed, 'a test before it failed');
      onTestFailed(() => {
        hasFailed = true;
      });
    });

    test('becomes ready as the DaemonSet that is shipped', async () => {
      await within(60, async () => expect(await readyAgents(client)).toBe(1));
    });

    test('is reached through the API server by the forwarder of plimsoll dashboard', async () => {
      const { port, listener } = await forwardPort(0, {
        config: await loadKubeconfig(node.kubeconfig),
        target: () => healthPort(client),
        onFailure: (cause) => expect.fail(cause),
      });
      const answers = await Promise.all([1, 2].map(() => fetch(`http://127.0.0.1:${port}/livez`, CLOSING)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      listener.close();
    });

    refusalTest(moves);

    test('reads of each pod what the kubelet reports, within 2 % or 4 MiB', async () => {
      const names = [...STEADY, UNBOUNDED].map(keyOf);
      await within(60, async () => {
        const [ours, { workingSets }] = [usageByPod(await pressureStatus(client)), await askKubelet(client)];
        expect([...ours.keys()].sort()).toEqual([...names].sort());
        const differing = names.filter((name) => isFar(ours.get(name), workingSets.get(name)));
        expect(differing).toEqual([]);
      });
      await call(client, { method: 'DELETE', path: podPath(UNBOUNDED) });
    });

    test('evicts the pod that takes the memory, before the kubelet does', async () => {
      await within(60, async () => expect(await agentAgeMs(client)).toBeGreaterThan(WARM_UP_MS));
      const { availableBytes } = await askKubelet(client);
      await node.configureKubelet(evictionBelow(availableBytes - KUBELET_MARGIN));
      await makePod(client, HOG);
      // Until the kubelet has reported a container, its usage is unknown.
      const uid = await within(30, async () => {
        const hog = await get(podPath(HOG));
        expect(at(hog, 'status.containerStatuses.0.started')).toBe(true);
        return textAt(hog, 'metadata.uid');
      });
      await applyPolicy(client, String(availableBytes - AGENT_MARGIN));
      await within(90, async () => expect((await pressureStatus(client)).evictions[0]?.uid).toBe(uid));
      const { evictions, conditions } = await pressureStatus(client);
      expect(evictions).toMatchObject([{ pod: 'default/hog', signal: 'memory.available', stage: 'mild' }]);
      expect(conditions.find(({ type }) => type === 'Memory')).toMatchObject({ status: 'True' });
      await within(60, () => expect(get(podPath(HOG))).rejects.toThrow('not found'));
      expect(await within(20, () => evictedEvents(client, HOG.name))).toEqual([
        {
          reporter: 'plimsoll.dev/agent',
          message: expect.stringMatching(KUBELET_WORDS) as string,
          annotations: {
            offending_containers: 'main',
            offending_containers_usage: expect.stringMatching(/^\d+Ki$/) as string,
            starved_resource: 'memory',
          },
        },
      ]);
      for (const steady of STEADY) expect(at(await get(podPath(steady)), 'status.phase')).toBe('Running');
    });

    test('takes lent room back from the pod that runs in it, while another one grows within its request', async () => {
      await applyPolicy(client, String(NEVER));
      await lend(client, `${LENT.spareMebibytes}Mi`);
      if (runsWebhook)
        await expect(makePod(client, LENT)).rejects.toThrow('where a PriorityPolicy with runOn grants spare room');
      await call(client, { method: 'POST', path: PRIORITY_POLICIES, body: GRANT });
      await within(30, () => makePod(client, LENT));
      await within(60, async () => {
        const { workingSets } = await askKubelet(client);
        expect(workingSets.get(keyOf(LENT))).toBeGreaterThan(bytesOf(LENT));
      });
      await node.configureKubelet(evictionBelow(NEVER));
      const { availableBytes } = await within(30, () => askKubelet(client));
      expect(at(await get(podPath(LENT)), 'status')).toMatchObject({
        phase: 'Running',
        containerStatuses: [{ restartCount: 0 }],
      });
      await applyPolicy(client, String(availableBytes - AGENT_MARGIN));
      await makePod(client, IMPORTANT);
      await within(90, async () => expect((await pressureStatus(client)).evictions[0]?.pod).toBe(keyOf(LENT)));
      await within(60, () => expect(get(podPath(LENT))).rejects.toThrow('not found'));
      await within(60, async () => {
        const { workingSets } = await askKubelet(client);
        expect(workingSets.get(keyOf(IMPORTANT))).toBeGreaterThan(bytesOf(IMPORTANT));
      });
      expect(at(await get(podPath(IMPORTANT)), 'status.phase')).toBe('Running');
      await call(client, { method: 'DELETE', path: podPath(IMPORTANT) });
      await call(client, { method: 'DELETE', path: `${PRIORITY_POLICIES}/${GRANT.metadata.name}` });
      await lend(client, null);
    });

    test('stands back after the kubelet has ended a pod, then evicts again', async () => {
      await node.configureKubelet(evictionBelow(NEVER));
      await applyPolicy(client, String(NEVER));
      const labels = { 'plimsoll.dev/ignore': 'true' };
      await call(client, { method: 'POST', path: NAMESPACES, body: { metadata: { name: THEIRS.namespace, labels } } });
      await within(20, () => makePod(client, THEIRS));
      await makePod(client, OURS);
      await within(60, async () => {
        const { workingSets } = await askKubelet(client);
        for (const each of [THEIRS, OURS]) expect(workingSets.get(keyOf(each))).toBeGreaterThan(bytesOf(each));
      });
      await within(120, async () => {
        const { availableBytes } = await askKubelet(client);
        await node.configureKubelet(evictionBelow(availableBytes + SHORTAGE));
        // Phase and reason do not say it: a container that ends well on SIGTERM makes the pod Succeeded.
        await within(25, async () =>
          expect(at(await get(podPath(THEIRS)), 'status.conditions')).toContainEqual(
            expect.objectContaining({ type: 'DisruptionTarget', reason: 'TerminationByKubelet' }),
          ),
        );
      });
      await applyPolicy(client, ALWAYS_SHORT);
      const standsBack = {
        msg: 'Evictions held back',
        holds: [expect.objectContaining({ code: 'KubeletActs' })],
      };
      await within(20, async () => expect(await agentLog(node)).toContainEqual(expect.objectContaining(standsBack)));
      await node.configureKubelet(evictionBelow(NEVER));
      await within(90, () => expect(get(podPath(OURS))).rejects.toThrow('not found'));
      // A pod that ends at once is gone before the status, which is written once a second, tells of it.
      await within(10, async () => {
        const asked = (await pressureStatus(client)).evictions.map(({ pod }) => pod);
        expect(asked).toEqual([keyOf(OURS), keyOf(LENT), keyOf(HOG)]);
      });
    });

    test('need not fear a pod that calls itself a mirror: the kubelet runs none, and takes it away', async () => {
      await call(client, {
        method: 'POST',
        path: podPath(FORGED).slice(0, -FORGED.name.length - 1),
        body: await forged(),
      });
      await within(60, () => expect(get(podPath(FORGED))).rejects.toThrow('not found'));
    });

    /** All marks of a static pod, which only a kubelet should set and any tenant can. */
    async function forged(): Promise<object> {
      const uid = textAt(await get(`/api/v1/nodes/${NODE_NAME}`), 'metadata.uid');
      const owner = { apiVersion: 'v1', kind: 'Node', name: NODE_NAME, uid, controller: true };
      const annotations = { 'kubernetes.io/config.mirror': '9a1f', 'kubernetes.io/config.source': 'file' };
      const containers = [{ name: 'main', image: WORKLOAD_IMAGE, args: ['grow', '1', '1'] }];
      const metadata = { name: FORGED.name, annotations, ownerReferences: [owner] };
      return { metadata, spec: { nodeName: NODE_NAME, tolerations: [{ operator: 'Exists' }], containers } };
    }

    if (under.patience === 1) throttleTests(moves);

    if (WITH_MOVES) usageTest(moves);
    if (WITH_MOVES && under.measuresStalls) stallTest(moves);

    test('has run all along, with the memory that it is given', async () => {
      expect(await agentRestarts(client)).toBe(0);
    });

    if (under.patience === 1) killedAgentTest(moves);
  });
}

/** What the node controller does; `null` lends no more. */
async function lend(client: KubeClient, memory: string | null): Promise<void> {
  await call(client, {
    method: 'PATCH',
    path: `/api/v1/nodes/${NODE_NAME}/status`,
    contentType: 'application/merge-patch+json',
    body: { status: { capacity: { 'plimsoll.dev/spare-memory': memory } } },
  });
}

function bytesOf({ mebibytes }: Workload): number {
  return mebibytes * MEBIBYTE;
}

/** As the agent and the kubelet's statistics name it. */
function keyOf({ name, namespace = 'default' }: Workload): string {
  return `${namespace}/${name}`;
}

/** Beyond 2 % and 4 MiB; what is not there is far. */
function isFar(one = NaN, other = NaN): boolean {
  return !(Math.abs(one - other) <= Math.max(other * 0.02, 4 * MEBIBYTE));
}

function evictionBelow(bytes: number): object {
  return { evictionHard: { 'memory.available': String(bytes) } };
}
