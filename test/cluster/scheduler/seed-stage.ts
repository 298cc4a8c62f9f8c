import { expect } from 'vitest';
import { at, pod } from '#test/contract/harness.ts';
import { makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import type { Given, SeedPod } from '#test/shared/domain/preemption/seed-cluster.ts';
import { eventually } from '#test/build/waiting.ts';

export const PODS = '/api/v1/namespaces/default/pods';
export const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const MERGE = 'application/merge-patch+json';

/** What is true at one moment of a worked example, in the names of the example. */
export interface Moment {
  readonly at: number;
  readonly terminating: readonly string[];
  readonly nominated: Readonly<Record<string, string>>;
  readonly bound: Readonly<Record<string, string>>;
  readonly pending: readonly string[];
  readonly free: Readonly<Record<string, number>>;
}

/** A worked example with nodes and pods of its own, so that several can play in one cluster at the same time. */
export interface SeedStage {
  /** Makes the nodes, and the pods that run there. */
  readonly build: () => Promise<void>;
  readonly addNode: (node: Given['nodes'][number]) => Promise<void>;
  readonly create: (seedPod: SeedPod, ownerReferences?: readonly object[]) => Promise<void>;
  /** As the kubelet reports a pod that runs. */
  readonly run: (name: string) => Promise<void>;
  readonly end: (name: string) => Promise<void>;
  readonly uidOf: (name: string) => Promise<string>;
  readonly nodeName: (seedName: string) => string;
  readonly seen: () => Promise<Omit<Moment, 'at'>>;
  /** Names of all pods on nodes, sorted. */
  readonly here: () => Promise<readonly string[]>;
}

/** Pods that are created later are for this scheduler. */
export function seedStage(
  { admin }: OwnCluster,
  id: string,
  given: Given,
  schedulerName = 'default-scheduler',
): SeedStage {
  const prefix = `${id}-`;
  const running = new Set(given.running.map(({ name }) => name));
  const podName = (name: string): string => `${prefix}${name.toLowerCase()}`;
  const nodeName = (name: string): string => `${prefix}${name}-0`;
  const seedName = (node: unknown): string => String(node).slice(prefix.length, -'-0'.length);

  async function send(method: 'POST' | 'PATCH', path: string, body: object): Promise<void> {
    const contentType = method === 'PATCH' ? MERGE : 'application/json';
    expect(await admin.request({ method, path, contentType, body })).toMatchObject({ kind: 'ok' });
  }

  async function createNode({ name, capacity, memoryCapacity, pods }: Given['nodes'][number]): Promise<void> {
    await makeFakeNodes(admin, `${prefix}${name}`, 1);
    const amounts = {
      cpu: String(capacity ?? 1_000),
      ...(memoryCapacity !== undefined && { memory: memoryCapacity }),
      ...(pods !== undefined && { pods: String(pods) }),
    };
    await send('PATCH', `/api/v1/nodes/${nodeName(name)}/status`, {
      status: { capacity: amounts, allocatable: amounts },
    });
    await send('PATCH', `/api/v1/nodes/${nodeName(name)}`, { metadata: { labels: { example: id } } });
  }

  async function create(seedPod: SeedPod, ownerReferences: readonly object[] = []): Promise<void> {
    const { name, node, priority, preemptionPolicy } = seedPod;
    const priorityClassName = classOf(priority, preemptionPolicy);
    const classBody = { metadata: { name: priorityClassName }, value: priority, preemptionPolicy };
    await admin.request({ method: 'POST', path: CLASSES, body: classBody });
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: resourcesOf(seedPod) }];
    const terminationGracePeriodSeconds = seedPod.graceSeconds ?? 30;
    const spec = { containers, terminationGracePeriodSeconds, priorityClassName };
    const where = node === undefined ? { nodeSelector: { example: id } } : { nodeName: nodeName(node) };
    const body = pod(
      podName(name),
      { schedulerName, ...spec, ...where },
      { labels: { example: id, seed: name }, ownerReferences },
    );
    // Admission learns of a new class a moment later.
    await eventually(() => send('POST', PODS, body));
  }

  async function listed(): Promise<readonly unknown[]> {
    const outcome = await admin.request({ path: PODS, query: { labelSelector: `example=${id}` } });
    return at(outcome, 'object.items') as readonly unknown[];
  }

  async function seen(): Promise<Omit<Moment, 'at'>> {
    const pods = await listed();
    const onNode = (each: unknown) => at(each, 'spec.nodeName') !== undefined;
    const waiting = pods.filter((each) => !onNode(each));
    const nominated = waiting.filter((each) => at(each, 'status.nominatedNodeName') !== undefined);
    return {
      terminating: namesOf(pods.filter((each) => at(each, 'metadata.deletionTimestamp') !== undefined)),
      nominated: byName(nominated, (each) => seedName(at(each, 'status.nominatedNodeName'))),
      bound: byName(
        pods.filter((each) => onNode(each) && !running.has(nameOf(each))),
        (each) => seedName(at(each, 'spec.nodeName')),
      ),
      pending: namesOf(waiting),
      free: Object.fromEntries(
        given.nodes.map(({ name, capacity = 0 }) => [name, capacity - used(pods, nodeName(name))]),
      ),
    };
  }

  return {
    build: async () => {
      await inFlight(4, given.nodes, createNode);
      await inFlight(4, given.running, (each) => create(each));
    },
    addNode: createNode,
    create,
    run: (name) =>
      send('PATCH', `${PODS}/${podName(name)}/status`, {
        status: { phase: 'Running', startTime: new Date().toISOString() },
      }),
    end: async (name) => {
      await admin.request({ method: 'DELETE', path: `${PODS}/${podName(name)}`, body: { gracePeriodSeconds: 0 } });
    },
    uidOf: async (name) => String(at(await admin.request({ path: `${PODS}/${podName(name)}` }), 'object.metadata.uid')),
    nodeName,
    seen,
    here: async () => namesOf((await listed()).filter((each) => at(each, 'spec.nodeName') !== undefined)),
  };
}

/** The PriorityClass that pods of a priority, and of a preemption policy where they state one, are created with. */
export function classOf(priority: number, preemptionPolicy?: string): string {
  return ['priority', priority, ...(preemptionPolicy === undefined ? [] : [preemptionPolicy.toLowerCase()])].join('-');
}

/** A Guaranteed pod limits what it requests, and states memory too. */
function resourcesOf(seedPod: SeedPod): object {
  const requests = requestsOf(seedPod);
  if (seedPod.qos === 'BestEffort') return {};
  if (seedPod.qos !== 'Guaranteed') return { requests };
  const amounts = { memory: '1Mi', ...requests };
  return { requests: amounts, limits: amounts };
}

function requestsOf({ request, memoryRequest }: SeedPod): object {
  const memory = memoryRequest === undefined || memoryRequest === '0' ? {} : { memory: memoryRequest };
  return request === undefined ? memory : { ...memory, cpu: String(request) };
}

function nameOf(each: unknown): string {
  return String(at(each, 'metadata.labels.seed'));
}

function namesOf(pods: readonly unknown[]): readonly string[] {
  return pods.map(nameOf).sort();
}

function byName(pods: readonly unknown[], valueOf: (each: unknown) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(pods.map((each) => [nameOf(each), valueOf(each)]));
}

function used(pods: readonly unknown[], node: string): number {
  const here = pods.filter((each) => at(each, 'spec.nodeName') === node);
  return here.reduce<number>((sum, each) => sum + Number(at(each, 'spec.containers.0.resources.requests.cpu') ?? 0), 0);
}
