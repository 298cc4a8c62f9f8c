import { afterAll, beforeAll, expect } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { at, textAt } from '#test/contract/harness.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { endTerminatedPods } from '#test/cluster/support/end-terminated-pods.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { installShippedSet, type ShippedPart, startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { letTimePass } from '#test/build/waiting.ts';
import { podPath } from './removal-scene.ts';

const POLICIES = '/apis/plimsoll.dev/v1alpha1/reschedulingpolicies';
const RECORDS = '/apis/plimsoll.dev/v1alpha1/namespaces/default/disruptions';
const KUBELET_MS = 250;
/** Each time all pods are listed, of which there are hundreds. */
const ENDED_MS = 1_000;
const AT_ONCE = 16;
export interface SeenPod {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly app: string;
  readonly isLeaving: boolean;
}

/** What the kubelets of fake nodes report of a pod that was bound. */
export interface Reported {
  /** How long it has run. */
  readonly ageMs?: number;
  readonly status?: object;
}

/**
 * A control plane with all that is shipped, whose parts are off. Pods of fake nodes run once they are bound, as `reportOf`
 * says, and end when their grace period is over.
 */
export function reschedulingScene(
  own: () => OwnCluster,
  reportOf: (pod: SeenPod) => Reported = () => ({ ageMs: HOUR_MS }),
) {
  const ended = new AbortController();
  let working: Promise<unknown>;
  const processes: SchedulerProcess[] = [];

  beforeAll(async () => {
    await installShippedSet(own());
    working = Promise.all([endTerminatedPods(own().admin, ended.signal, ENDED_MS), runBoundPods()]);
  }, 120_000);
  afterAll(async () => {
    ended.abort();
    await working;
    await Promise.all(processes.map((each) => each.stop()));
  });

  async function start(workload: ShippedPart): Promise<SchedulerProcess> {
    const started = await startShipped(own(), workload);
    processes.push(started);
    return started;
  }

  async function send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const outcome = await own().admin.request({ method, path, contentType, ...(body && { body }) });
    expect(outcome).toMatchObject({ kind: 'ok' });
    return at(outcome, 'object');
  }

  /** As kubelets would; a pod that has just gone is none of them any more. */
  async function runBoundPods(): Promise<void> {
    while (!ended.signal.aborted) {
      const list = await own().admin.request({ path: podPath(), query: { fieldSelector: 'status.phase=Pending' } });
      const items = (at(list, 'object.items') ?? []) as readonly unknown[];
      const bound = items.filter((each) => nodeOf(each) !== '');
      await inFlight(AT_ONCE, bound, async (each) => {
        const { ageMs = 0, status } = reportOf(seenPod(each));
        const startTime = new Date(Date.now() - ageMs).toISOString();
        const conditions = [{ type: 'Ready', status: 'True' }];
        const path = `${podPath('default', textAt(each, 'metadata.name'))}/status`;
        const body = { status: { phase: 'Running', startTime, conditions, ...status } };
        await own().admin.request({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body });
      });
      await letTimePass(KUBELET_MS, 'double', ended.signal);
    }
  }

  async function pods(): Promise<readonly SeenPod[]> {
    return (at(await send('GET', podPath()), 'items') as readonly unknown[]).map(seenPod);
  }

  /** Which of these pods have gone or are leaving. */
  async function goneFrom(before: readonly SeenPod[]): Promise<readonly SeenPod[]> {
    const staying = new Set((await pods()).filter(({ isLeaving }) => !isLeaving).map(({ uid }) => uid));
    return before.filter(({ uid }) => !staying.has(uid));
  }

  /** Pods that request one CPU, unless said otherwise. */
  async function createReplicas(app: string, replicas: number, spec: object = {}): Promise<void> {
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: '1' } } }];
    const podSpec = { containers, terminationGracePeriodSeconds: 1, automountServiceAccountToken: false, ...spec };
    const template = { metadata: { labels: { app } }, spec: podSpec };
    const body = { metadata: { name: app }, spec: { replicas, selector: { matchLabels: { app } }, template } };
    await send('POST', '/apis/apps/v1/namespaces/default/replicasets', body);
  }

  /** Controllers count the ready pods of an owner, and budgets go by that. */
  async function countReadyReplicas(): Promise<number> {
    const sets = at(await send('GET', '/apis/apps/v1/namespaces/default/replicasets'), 'items') as readonly unknown[];
    return sets.reduce<number>((sum, each) => sum + Number(at(each, 'status.readyReplicas') ?? 0), 0);
  }

  async function createPolicy(name: string, spec: object): Promise<void> {
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'ReschedulingPolicy', metadata: { name } };
    await send('POST', POLICIES, { ...head, spec: { aggressiveness: 'High', schedule: { period: '30s' }, ...spec } });
  }

  async function changePolicy(name: string, spec: object): Promise<void> {
    await send('PATCH', `${POLICIES}/${name}`, { spec });
  }

  async function statusOf(name: string): Promise<unknown> {
    return at(await send('GET', `${POLICIES}/${name}`), 'status');
  }

  async function records(): Promise<readonly unknown[]> {
    return at(await send('GET', RECORDS), 'items') as readonly unknown[];
  }

  return {
    send,
    start,
    pods,
    goneFrom,
    createReplicas,
    countReadyReplicas,
    createPolicy,
    changePolicy,
    statusOf,
    records,
    signal: ended.signal,
  };
}

function seenPod(raw: unknown): SeenPod {
  return {
    name: textAt(raw, 'metadata.name'),
    uid: textAt(raw, 'metadata.uid'),
    node: nodeOf(raw),
    app: textOrNone(raw, 'metadata.labels.app'),
    isLeaving: at(raw, 'metadata.deletionTimestamp') !== undefined,
  };
}

function nodeOf(raw: unknown): string {
  return textOrNone(raw, 'spec.nodeName');
}

function textOrNone(object: unknown, path: string): string {
  const value = at(object, path);
  return typeof value === 'string' ? value : '';
}
