import { expect } from 'vitest';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at, pod, textAt } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';

export const PATIENCE_MS = 30_000;
export const RECORDS = '/apis/plimsoll.dev/v1alpha1';

/** The path of a pod, or of all pods of a namespace. */
export function podPath(namespace = 'default', name?: string): string {
  return `/api/v1/namespaces/${namespace}/pods${name === undefined ? '' : `/${name}`}`;
}

/** A spec that requests so much CPU. */
export function asking(cpu: string): object {
  return { containers: [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu } } }] };
}

/** A spec that only these nodes satisfy. */
export function onlyOn(...names: readonly string[]): object {
  const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: names }];
  const required = { nodeSelectorTerms: [{ matchExpressions }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } };
}

/** Pods that are created and removed, and what is recorded of them. */
export function removalScene(own: () => Pick<OwnCluster, 'admin'>) {
  async function send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json';
    const outcome = await own().admin.request({ method, path, contentType, ...(body && { body }) });
    if (outcome.kind !== 'ok') throw new Error(`${method} ${path}: ${JSON.stringify(outcome)}`);
    return outcome.object;
  }

  /** Half of a node. On the node where one is named; otherwise kube-scheduler looks for one among those of the selector. */
  async function create(
    name: string,
    spec: object,
    more: { readonly namespace?: string; readonly metadata?: object } = {},
  ) {
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: '4' } } }];
    const body = pod(name, { containers, schedulerName: 'default-scheduler', ...spec }, more.metadata);
    const path = podPath(more.namespace);
    return eventually(async () => textAt(await send('POST', path, body), 'metadata.uid'), PATIENCE_MS);
  }

  async function records(namespace = 'default'): Promise<readonly object[]> {
    const list = await send('GET', `${RECORDS}/namespaces/${namespace}/disruptions`);
    return at(list, 'items') as readonly object[];
  }

  async function recordOf(name: string, namespace = 'default'): Promise<object> {
    const found = (await records(namespace)).filter((each) => at(each, 'spec.pod') === name);
    expect(found).toHaveLength(1);
    return found[0] ?? {};
  }

  /** By name, whichever of them this is about; the scheduler's own Event says which pod it was. */
  /** The UIDs that Events name; a pod that terminates can be a victim once more. */
  async function preemptorsInEvents(victim: string): Promise<readonly string[]> {
    const events = await send('GET', '/apis/events.k8s.io/v1/namespaces/default/events');
    const found = (at(events, 'items') as readonly object[]).filter(
      (each) => at(each, 'reason') === 'Preempted' && at(each, 'regarding.name') === victim,
    );
    return found.flatMap(
      (each) => /^Preempted by pod (?<uid>\S+) on node/.exec(textAt(each, 'note'))?.groups?.['uid'] ?? [],
    );
  }

  /** Of a kind that no controller makes pods for; the garbage collector deletes pods whose owner does not exist. */
  async function makeOwner(name: string) {
    const [apiVersion, kind] = ['v1', 'ConfigMap'];
    const made = await send('POST', '/api/v1/namespaces/default/configmaps', { apiVersion, kind, metadata: { name } });
    return { apiVersion, kind, name, uid: textAt(made, 'metadata.uid'), controller: true };
  }

  async function evict(name: string): Promise<void> {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    await send('POST', `${podPath('default', name)}/eviction`, body);
  }

  /** Writes a part of the NodePressure of node-0, as the node controller and its agent do. */
  async function pressure(part: { readonly spec?: object; readonly status?: object }): Promise<void> {
    const object = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure', metadata: { name: 'node-0' } };
    if (part.spec !== undefined) await send('POST', `${RECORDS}/nodepressures`, { ...object, ...part });
    else await merge(`${RECORDS}/nodepressures/node-0/status`, part);
  }

  async function merge(path: string, body: object): Promise<void> {
    const contentType = 'application/merge-patch+json';
    expect(await own().admin.request({ method: 'PATCH', path, contentType, body })).toMatchObject({ kind: 'ok' });
  }

  const cause = (name: string, expected: string) =>
    eventually(async () => expect(await recordOf(name)).toMatchObject({ spec: { cause: expected } }), PATIENCE_MS);

  return { send, create, records, recordOf, preemptorsInEvents, makeOwner, evict, pressure, cause };
}
