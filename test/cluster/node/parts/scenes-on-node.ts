import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { eventually } from '#test/build/waiting.ts';
import { runKubectl } from '#test/cluster/installed/support/run-kubectl.ts';
import { agentAgeMs } from '#test/cluster/node/agent-on-node.ts';
import { askKubelet } from '#test/cluster/node/ask-kubelet.ts';
import { applyPolicy, evictedEvents } from '#test/cluster/node/evicting-policy.ts';
import { WORKLOAD_IMAGE } from '#test/cluster/node/image/workload-image.ts';
import { call } from '#test/cluster/node/kube-calls.ts';
import { makePod, podPath, type Workload } from '#test/cluster/node/make-pod.ts';
import { NODE_NAME } from '#test/cluster/node/node-place.ts';
import type { NodeOfOurs } from '#test/cluster/node/start/start-node-of.ts';
import { at, textAt } from '#test/contract/harness.ts';
import type { releaseOnNode } from './release-on-node.ts';

const OURS = '/apis/plimsoll.dev/v1alpha1';
const MEBIBYTE = 1_048_576;
/** Other programs of the machine take and give back memory, too. */
const MARGIN = 400 * MEBIBYTE;
const HOG: Workload = { name: 'hog', mebibytes: 1_200, mebibytesPerSecond: 300 };
/** It evicts no pod at first. */
const WARM_UP_MS = 35_000;
const PROMISED_MS = 90_000;

/** The installed release, and the node that it is on. */
export interface PartsScene extends ReturnType<typeof releaseOnNode> {
  readonly node: () => NodeOfOurs;
  readonly client: () => KubeClient;
}

/** Applies a file of this folder, with the image of the workload. */
export async function applyTenants({ node }: PartsScene, name: string): Promise<void> {
  const text = readFileSync(new URL(`./${name}`, import.meta.url), 'utf8').replaceAll('WORKLOAD', WORKLOAD_IMAGE);
  const documents = parseAllDocuments(text).map((each) => stringify(each.toJS()));
  await runKubectl(node().kubeconfig, ['apply', '-f', '-'], documents.join('---\n'));
}

/** `PHASE` of each pod of a namespace that stays, in order. */
export async function phasesIn({ get }: PartsScene, namespace: string): Promise<readonly unknown[]> {
  const pods = at(await get(`/api/v1/namespaces/${namespace}/pods`), 'items') as readonly object[];
  const staying = pods.filter((pod) => at(pod, 'metadata.deletionTimestamp') === undefined);
  return staying.map((pod) => at(pod, 'status.phase')).sort();
}

/** The record of the removal of a pod. */
async function recordOf({ get }: PartsScene, namespace: string, isIt: (record: object) => boolean): Promise<object> {
  const records = at(await get(`${OURS}/namespaces/${namespace}/disruptions`), 'items') as readonly object[];
  const found = records.find(isIt);
  expect(found).toBeDefined();
  return found ?? {};
}

/** A queue below its guarantee gets it back from one that borrowed it, while both have pods at work. */
export function reclaimTest(scene: PartsScene): void {
  test('a queue below its guarantee gets it back, with Events and records of why', async () => {
    await applyTenants(scene, 'lenders.yaml');
    await eventually(async () => {
      expect(await phasesIn(scene, 'borrower')).toEqual(['Running', 'Running', 'Running', 'Running']);
    }, PROMISED_MS);
    await scene.kubectl('scale', '-n', 'lender', 'deployment/web', '--replicas=2');
    await eventually(async () => {
      expect(await phasesIn(scene, 'lender')).toEqual(['Running', 'Running']);
      expect(await phasesIn(scene, 'borrower')).toEqual(['Pending', 'Pending', 'Running', 'Running']);
      expect(await scene.ownEvents()).toContain('Reclaimed plimsoll.dev/scheduler Pod');
      const record = await recordOf(scene, 'borrower', (each) => at(each, 'spec.cause') === 'Reclaim');
      expect(textAt(record, 'spec.because.text')).toContain('lender');
      for (const name of ['lender', 'borrower'])
        expect(at(await scene.get(`${OURS}/queues/${name}`), 'status.used.cpu')).toBe('100m');
    }, PROMISED_MS);
  });
}

/** The agent in Enforce by a policy evicts the pod that takes the memory, and it is told and recorded. */
export function evictionTest(scene: PartsScene): void {
  test('a hog is evicted where a policy says Enforce, with the Event, the record and the status of the node', async () => {
    const client = scene.client();
    await eventually(async () => expect(await agentAgeMs(client)).toBeGreaterThan(WARM_UP_MS), PROMISED_MS);
    const { availableBytes } = await askKubelet(client);
    await makePod(client, HOG);
    await applyPolicy(client, String(availableBytes - MARGIN));
    await eventually(async () => {
      expect((await evictedEvents(client, HOG.name)).map(({ reporter }) => reporter)).toEqual(['plimsoll.dev/agent']);
      const record = await recordOf(scene, 'default', (each) => at(each, 'spec.pod') === HOG.name);
      expect(record).toMatchObject({ spec: { cause: 'Eviction', node: NODE_NAME } });
      expect(textAt(record, 'spec.because.text')).toContain('memory');
      const pressure = await scene.get(`${OURS}/nodepressures/${NODE_NAME}`);
      expect(at(pressure, 'status.evictions.0')).toMatchObject({ pod: 'default/hog', signal: 'memory.available' });
      await expect(scene.get(podPath(HOG))).rejects.toThrow('not found');
    }, PROMISED_MS);
    expect(await phasesIn(scene, 'shop')).toEqual(['Running', 'Running']);
    await call(client, { method: 'DELETE', path: `${OURS}/nodepressurepolicies/${NODE_NAME}` });
  });
}

/** No process is started again, each says once that it lost its streams, and the parts go on. */
export function restartTest(scene: PartsScene): void {
  test('after a restart of the API server every part goes on, and each process says so once', async () => {
    const before = new Set(await scene.warnings());
    await scene.node().restart('kube-apiserver');
    await scene.kubectl('scale', '-n', 'lender', 'deployment/web', '--replicas=1');
    await eventually(async () => {
      expect(await phasesIn(scene, 'borrower')).toEqual(['Pending', 'Running', 'Running', 'Running']);
    }, PROMISED_MS);
    await scene.expectAllReady();
    expect((await scene.ownPods()).filter(([, , restarts]) => restarts !== 0)).toEqual([]);
    const said = (await scene.warnings()).filter((line) => !before.has(line));
    const lost = said.filter((line) => line.includes('Reflector lost its stream'));
    const { length } = await scene.ownPods();
    // Besides, a write that failed meanwhile is said once.
    expect([lost.length <= length, said.length <= 2 * length]).toEqual([true, true]);
  });
}
