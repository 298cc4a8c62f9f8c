import { globSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { decodeNodePressure, encodeStatus, type NodePressureStatus } from '#shared/api/node-pressure.ts';
import type { SpareStatus } from '#shared/api/spare-status.ts';
import { encodeDigest } from '#shared/decide/spare/digest.ts';
import type { SpareObservation } from '#shared/decide/spare/lendable.ts';
import { decideSpare, emptySpareState } from '#shared/decide/spare/spare.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { SPARE_RESOURCES, type SpareKind } from '#shared/domain/spare/spare-resources.ts';
import { NO_SPARE, type SpareSettings } from '#shared/domain/spare/spare-settings.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { AGENT } from '#test/cluster/support/accounts.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { WORKLOAD_IMAGE } from './image/workload-image.ts';
import { call } from './kube-calls.ts';
import { podPath } from './make-pod.ts';
import { NODE_NAME } from './node-place.ts';
import type { NodeOfOurs } from './start/start-node-of.ts';

const MEBIBYTE = 1_048_576;
const HOUR_MS = 3_600_000;
const STEP_MS = 10_000;
const OURS = '/apis/plimsoll.dev/v1alpha1';
const PRESSURE = `${OURS}/nodepressures/${NODE_NAME}`;
const SETTINGS: SpareSettings = { ...NO_SPARE, mode: 'Enforce', margin: 0 };

/** It asks for memory alone: other programs of the machine leave no processor idle. */
export const BATCH = { name: 'batch', mebibytes: 800, requested: 900 * MEBIBYTE, className: 'batch-spare' } as const;

export type LendingStatus = NodePressureStatus & { readonly spare: SpareStatus };

/** A node that lends, and the one pod that runs in spare room once its UID is known. */
export function lentRoomOnNode(node: () => NodeOfOurs, client: () => KubeClient) {
  const get = (path: string): Promise<unknown> => call(client(), { path });
  let uid: string | undefined;

  async function applyThreshold(availableBytes: number): Promise<void> {
    const spec = {
      mode: 'Enforce',
      memoryFigure: 'Kubelet',
      evictionHard: { 'memory.available': String(availableBytes) },
      spare: { mode: SETTINGS.mode, margin: `${100 * SETTINGS.margin}%` },
    };
    const metadata = { name: NODE_NAME };
    await call(client(), {
      method: 'PATCH',
      path: `${OURS}/nodepressurepolicies/${NODE_NAME}`,
      query: { fieldManager: 'plimsoll-test', force: true },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressurePolicy', metadata, spec },
    });
  }

  async function status(): Promise<LendingStatus> {
    const { status: found } = decodeNodePressure(await get(PRESSURE));
    if (found?.spare === undefined) throw new Error('the agent reports no spare room');
    return { ...found, spare: found.spare };
  }

  /** Bytes that the scheduler counts; `undefined` where nothing is lent. */
  async function offered(): Promise<number | undefined> {
    const allocatable = at(await get(`/api/v1/nodes/${NODE_NAME}`), 'status.allocatable');
    const text = (allocatable as Readonly<Record<string, string>>)[SPARE_RESOURCES.memory];
    return text === undefined ? undefined : bytes(text);
  }

  /** What the agent says is lent, and no less than the pod requests. */
  async function expectOffered(): Promise<void> {
    const { memory } = (await status()).spare;
    expect(await offered()).toBe(memory.lent);
    expect(memory.taken).toBe(uid === undefined ? 0 : BATCH.requested);
    expect(memory.lent).toBeGreaterThanOrEqual(memory.taken);
  }

  async function expectOfferedOrNothing(): Promise<void> {
    if ((await offered()) !== undefined) await expectOffered();
  }

  async function expectUntouched(): Promise<void> {
    const pod = await get(podPath(BATCH));
    expect([at(pod, 'metadata.uid'), at(pod, 'metadata.deletionTimestamp')]).toEqual([uid, undefined]);
    expect(at(pod, 'status')).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 0 }] });
  }

  /** The processes of the containers of a component of ours. */
  async function processesOf(component: 'agent' | 'controller'): Promise<readonly number[]> {
    const namespace = component === 'agent' ? AGENT.namespace : 'plimsoll-system';
    const query = { labelSelector: `app.kubernetes.io/component=${component}` };
    const pods = at(await call(client(), { path: `/api/v1/namespaces/${namespace}/pods`, query }), 'items');
    const groups = (pods as readonly object[]).flatMap((pod) =>
      globSync(`/sys/fs/cgroup/memory/${node().kubepods}/**/pod${textAt(pod, 'metadata.uid')}/*/cgroup.procs`),
    );
    const pids = groups.flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(0, -1).map(Number));
    return pids.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('main.ts'));
  }

  async function agentProcess(): Promise<number> {
    const [pid, ...others] = await processesOf('agent');
    if (pid === undefined || others.length > 0) throw new Error('expected one process of the agent');
    return pid;
  }

  /** Writes what an agent would have written after two hours in which the node used what it uses now. */
  async function writeTwoHours(): Promise<SpareStatus> {
    const found = await status();
    const spare = twoHoursOf(found.spare, await get(`/api/v1/nodes/${NODE_NAME}`));
    await call(client(), {
      method: 'PATCH',
      path: `${PRESSURE}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: encodeStatus({ ...found, spare }) },
    });
    return spare;
  }

  return {
    get,
    applyThreshold,
    status,
    offered,
    expectOffered,
    expectOfferedOrNothing,
    expectUntouched,
    processesOf,
    agentProcess,
    writeTwoHours,
    runs: (running: string) => void (uid = running),
  };
}

function twoHoursOf(spare: SpareStatus, node: unknown): SpareStatus {
  const allocatable = { memory: bytes(textAt(node, 'status.allocatable.memory')), cpu: 1_000 };
  const observation = (kind: SpareKind): SpareObservation => ({
    capacity: allocatable[kind],
    allocatable: allocatable[kind],
    ceiling: allocatable[kind],
    used: spare[kind].used,
    requested: spare[kind].requested,
    spare: { requested: 0, used: 0 },
    textOf: String,
  });
  const seen = { memory: observation('memory'), cpu: observation('cpu') };
  let state = emptySpareState(0);
  for (let now = 0; now <= 2 * HOUR_MS; now += STEP_MS) ({ state } = decideSpare(state, seen, SETTINGS, now));
  return {
    ...spare,
    since: (spare.since ?? 0) - 2 * HOUR_MS,
    memory: { ...spare.memory, lent: state.published.memory },
    cpu: { ...spare.cpu, lent: state.published.cpu },
    digest: encodeDigest(state),
  };
}

/** As its owner writes it. */
export function batchPod(): object {
  const container = {
    name: 'main',
    image: WORKLOAD_IMAGE,
    args: ['grow', String(BATCH.mebibytes), '200'],
    resources: { requests: { memory: String(BATCH.requested) } },
  };
  const spec = {
    priorityClassName: BATCH.className,
    terminationGracePeriodSeconds: 5,
    tolerations: [{ operator: 'Exists' }],
    containers: [container],
  };
  return { metadata: { name: BATCH.name }, spec };
}

function bytes(text: string): number {
  const parsed = parseQuantity(text);
  if (!parsed.ok) throw new Error(`expected an amount, got ${text}`);
  return quantityNumber(parsed.quantity);
}
