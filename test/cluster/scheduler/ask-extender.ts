import { expect } from 'vitest';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { at, pod } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';

const PATIENCE_MS = 60_000;
const PODS = '/api/v1/namespaces/default/pods';
const CONTAINERS = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: '1M' } } }];

/** The cluster, and the port on which its extender listens. */
export interface AskedExtender {
  readonly admin: KubeClient;
  readonly port: number;
}

/**
 * Waits until the extender knows a node and all pods that exist: only then it keeps the room of that node for a pod which
 * was nominated to it after them, because the API server reports pods in the order of their changes. That pod has a
 * scheduler that does not exist, and is gone, also for the extender, before this resolves.
 */
export async function untilKnown(asked: AskedExtender, node: string): Promise<void> {
  const path = await setAside(asked, node);
  expect(await asked.admin.request({ method: 'DELETE', path })).toMatchObject({ kind: 'ok' });
  await untilLeftOut(asked.port, node, false);
}

/** Nominates a pod, whose path it resolves with, to a node, and waits until the extender keeps its room for it. */
export async function setAside({ admin, port }: AskedExtender, node: string, of: object = {}): Promise<string> {
  const name = `marker-${node}`;
  const path = `${PODS}/${name}`;
  const spec = { schedulerName: 'none', containers: CONTAINERS, terminationGracePeriodSeconds: 0, ...of };
  const send = async (request: Parameters<KubeClient['request']>[0]): Promise<void> =>
    expect(await admin.request(request)).toMatchObject({ kind: 'ok' });
  await send({ method: 'POST', path: PODS, body: pod(name, spec) });
  const body = { status: { nominatedNodeName: node } };
  await send({ method: 'PATCH', path: `${path}/status`, contentType: 'application/merge-patch+json', body });
  await untilLeftOut(port, node, true);
  return path;
}

/** Waits until the extender keeps a pod off a node, or no longer. */
async function untilLeftOut(port: number, node: string, isLeftOut: boolean): Promise<void> {
  const Pod = pod('probe', { containers: CONTAINERS });
  await eventually(async () => {
    const answer = await ask(port, 'filter', { Pod, NodeNames: [node] });
    expect(at(answer, 'NodeNames')).toEqual(isLeftOut ? [] : [node]);
  }, PATIENCE_MS);
}

/** Waits until the extender gives these nodes these scores, for a pod with these owners. */
export async function untilScores(
  port: number,
  scores: Readonly<Record<string, number>>,
  ownerReferences: readonly object[] = [],
): Promise<void> {
  const Pod = { metadata: { namespace: 'default', ownerReferences } };
  await eventually(async () => {
    const answer = await ask(port, 'prioritize', { Pod, NodeNames: Object.keys(scores) });
    const list = answer as readonly { readonly Host: string; readonly Score: number }[];
    expect(Object.fromEntries(list.map(({ Host, Score }) => [Host, Score]))).toEqual(scores);
  }, PATIENCE_MS);
}

async function ask(port: number, verb: string, body: object): Promise<unknown> {
  const answer = await fetch(`http://127.0.0.1:${port}/${verb}`, { method: 'POST', body: JSON.stringify(body) });
  return answer.json();
}
