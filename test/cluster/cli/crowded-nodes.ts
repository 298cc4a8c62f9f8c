import { expect } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';

export const PODS = '/api/v1/namespaces/default/pods';
const AT_ONCE = 16;
/** Of the 8 that a fake node has. */
const CORES = 8;
const FIRST_START = Date.parse('2026-01-01T00:00:00Z');

/** A pod of some size and priority class on a node. */
export interface CrowdPod {
  readonly name: string;
  readonly node: string;
  readonly className: string;
  readonly cpu: number;
  /** Whether the disruption budget of the tests counts it. */
  readonly isKept: boolean;
}

/** Pods that fill nodes, by a seeded generator of numbers from 0 to 1. */
export function randomCrowd(
  nodes: readonly string[],
  classes: readonly string[],
  random: () => number,
): readonly CrowdPod[] {
  return nodes.flatMap((node) => {
    const pods: CrowdPod[] = [];
    for (let left = CORES; left > 0; left -= pods.at(-1)?.cpu ?? left) {
      const cpu = Math.min(left, 1 + Math.floor(random() * 4));
      const className = classes[Math.floor(random() * classes.length)] ?? '';
      pods.push({ name: `${node}-${pods.length}`, node, className, cpu, isKept: random() < 0.3 });
    }
    return pods;
  });
}

/** Creates pods as if a kubelet ran them: on their nodes, started one second after the other. */
export async function createCrowd(admin: KubeClient, crowd: readonly CrowdPod[]): Promise<void> {
  await inFlight(AT_ONCE, crowd, async (each) => {
    await post(
      admin,
      PODS,
      podObject(each.name, { className: each.className, cpu: each.cpu, nodeName: each.node }, each.isKept),
    );
    const startTime = new Date(FIRST_START + crowd.indexOf(each) * 1000).toISOString();
    const body = { status: { phase: 'Running', startTime } };
    const contentType = 'application/merge-patch+json';
    const outcome = await admin.request({ method: 'PATCH', path: `${PODS}/${each.name}/status`, contentType, body });
    expect(outcome).toMatchObject({ kind: 'ok' });
  });
}

export interface PodShape {
  readonly className: string;
  readonly cpu: number;
  readonly nodeName?: string;
  readonly gated?: boolean;
  readonly affinity?: object;
}

/** A pod that ends at once when it is deleted. */
export function podObject(
  name: string,
  { className, cpu, nodeName, gated, affinity }: PodShape,
  isKept = false,
): object {
  const resources = { requests: { cpu: String(cpu) } };
  return {
    metadata: { name, labels: { app: name, ...(isKept && { budget: 'kept' }) } },
    spec: {
      priorityClassName: className,
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'registry.test/idle:1', resources }],
      ...(nodeName !== undefined && { nodeName }),
      ...(gated === true && { schedulingGates: [{ name: 'test.example/wait' }] }),
      ...(affinity !== undefined && { affinity }),
    },
  };
}

export async function post(admin: KubeClient, path: string, body: object): Promise<void> {
  expect(await admin.request({ method: 'POST', path, body })).toMatchObject({ kind: 'ok' });
}

/** Removes every pod of the namespace. */
export async function removeAll(admin: KubeClient): Promise<void> {
  await admin.request({ method: 'DELETE', path: PODS, body: { gracePeriodSeconds: 0 } });
}

/** Nodes by the names of the pods that are on one. */
export async function nodesByPod(admin: KubeClient): Promise<ReadonlyMap<string, string>> {
  const listed = await admin.request({ path: PODS });
  const pods = at(listed, 'object.items') as readonly unknown[];
  const placed = pods.filter((each) => at(each, 'spec.nodeName') !== undefined);
  return new Map(placed.map((each) => [textAt(each, 'metadata.name'), textAt(each, 'spec.nodeName')]));
}
