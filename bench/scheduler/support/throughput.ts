import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { pod } from '#test/contract/harness.ts';
import type { PausedScheduler } from './paused-scheduler.ts';

const PODS = '/api/v1/namespaces/default/pods';
const AT_ONCE = 32;
const POLL_MS = 20;
const PATIENCE_MS = 120_000;
/** Requests nothing, so that it fits on full nodes too. */
const PROBE: Omit<Load, 'label'> = { count: 1, priorityClassName: 'high', cpu: '0' };

/** Pods of one kind, so many of them. */
export interface Load {
  readonly label: string;
  readonly count: number;
  readonly priorityClassName: string;
  readonly cpu: string;
}

/**
 * Pods bound per second, from the time at which the scheduler may run until the last pod is bound. Before that, the
 * scheduler catches up with what happened while it was stopped.
 */
export async function throughputOf(client: KubeClient, scheduler: PausedScheduler, load: Load): Promise<number> {
  const spec = { schedulerName: scheduler.name };
  const probe = { ...PROBE, label: `probe-${scheduler.name}` };
  await createPods(client, probe, () => spec);
  scheduler.resume();
  await untilBound(client, probe.label);
  scheduler.pause();
  await removePods(client, probe.label);
  await createPods(client, load, () => spec);
  const begun = performance.now();
  scheduler.resume();
  await untilBound(client, load.label);
  scheduler.pause();
  return (load.count / (performance.now() - begun)) * 1_000;
}

/** Creates them, or only those of these numbers. Those with a `nodeName` are on a node at once. */
export async function createPods(
  client: KubeClient,
  { label, count, priorityClassName, cpu }: Load,
  specOf: (index: number) => object,
  indexes: Iterable<number> = Array(count).keys(),
): Promise<void> {
  const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu } } }];
  await inFlight(AT_ONCE, indexes, async (index) => {
    const spec = { priorityClassName, containers, ...specOf(index) };
    const body = pod(`${label}-${index}`, spec, { labels: { load: label } });
    const outcome = await client.request({ method: 'POST', path: PODS, body });
    if (outcome.kind !== 'ok') throw new Error(`cannot create pod ${label}-${index}: ${outcome.message}`);
  });
}

/** Numbers of the pods that are not there. */
export async function missingOf(client: KubeClient, { label, count }: Load): Promise<readonly number[]> {
  const outcome = await client.request({ path: PODS, query: { labelSelector: `load=${label}` } });
  if (outcome.kind !== 'ok') throw new Error(`cannot list pods: ${outcome.message}`);
  const items = fieldOf(outcome.object, 'items') as readonly { readonly metadata: { readonly name: string } }[];
  const there = new Set(items.map(({ metadata }) => metadata.name));
  return Array.from(Array(count).keys()).filter((index) => !there.has(`${label}-${index}`));
}

export async function removePods(client: KubeClient, label: string): Promise<void> {
  const query = { labelSelector: `load=${label}` };
  await client.request({ method: 'DELETE', path: PODS, query, body: { gracePeriodSeconds: 0 } });
}

async function untilBound(client: KubeClient, label: string): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (await anyUnbound(client, label)) {
    if (performance.now() > until) throw new Error(`pods ${label} were not bound in time`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function anyUnbound(client: KubeClient, label: string): Promise<boolean> {
  const query = { labelSelector: `load=${label}`, fieldSelector: 'spec.nodeName=', limit: 1 };
  const outcome = await client.request({ path: PODS, query });
  if (outcome.kind !== 'ok') throw new Error(`cannot list pods: ${outcome.message}`);
  return (fieldOf(outcome.object, 'items') as readonly unknown[]).length > 0;
}
