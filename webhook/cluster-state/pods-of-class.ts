import type { KnownPods } from '#shared/domain/admission/known-pods.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { readSmallPod, readSome } from '#shared/kube/list/read-some.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { withDeadline } from '#shared/runtime/deadline.ts';

const PAGE_SIZE = 500;
const MOST_PAGES = 4;
const MOST_BYTES = 32 * 1024 * 1024;
/** Pods found are held until the answer is sent; a longer list would not be read. */
const MOST_FOUND = 100;
const DEADLINE_MS = 800;
const NEVER = new AbortController().signal;

/**
 * Finds pods that use a class, in all namespaces. There is no selector for that, so only the first pages are read, and
 * only for a short time. Never rejects: returns what was found by then.
 */
export function findPodsOfClass(client: KubeClient, clock: Clock, name: string): Promise<KnownPods> {
  return withDeadline((signal) => findUntil(client, name, signal), DEADLINE_MS, clock, NEVER);
}

async function findUntil(client: KubeClient, name: string, signal: AbortSignal): Promise<KnownPods> {
  const found: Pod[] = [];
  const read = { bytes: 0, passedOver: 0 };
  const mention = Buffer.from(JSON.stringify(name));
  const pick = (json: Buffer): undefined => {
    read.bytes += json.length;
    if (!json.includes(mention)) return;
    const pod = found.length < MOST_FOUND ? readSmallPod(json) : undefined;
    if (pod === undefined) read.passedOver += 1;
    else if (pod.spec.priorityClassName === name) found.push(pod);
  };
  let continueToken: string | undefined;
  for (let page = 0; page < MOST_PAGES && !signal.aborted; page += 1) {
    const query = { limit: PAGE_SIZE, ...(continueToken !== undefined && { continueToken }) };
    const limits = { mostBytes: MOST_BYTES - read.bytes, timeoutMs: DEADLINE_MS, signal };
    const listed = await readSome(client, { resource: PODS }, { ...query, ...limits }, pick);
    if (listed.kind !== 'page') return { pods: found, isPartial: page > 0 };
    ({ continueToken } = listed);
    if (continueToken === undefined) return { pods: found, isPartial: listed.isCut || read.passedOver > 0 };
  }
  return { pods: found, isPartial: true };
}
