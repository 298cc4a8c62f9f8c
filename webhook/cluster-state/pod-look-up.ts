import { NO_KNOWN_PODS, type KnownPods, type PodSearch } from '#shared/domain/admission/cluster-state.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { listSomePods, selectorText, type SomePods, readSmallPod, readSome } from '#shared/kube/list/read-some.ts';
import { type Clock, NOT_ABORTED, withDeadline } from '#shared/runtime/clock.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { PODS } from '#shared/kube/resource.ts';

/**
 * Finds pods that make a message more helpful; no verdict depends on them. Never rejects: pods that cannot be read in
 * time are left out. Returns the pods of all searches together.
 */
export type PodLookUp = (searches: readonly PodSearch[]) => Promise<KnownPods>;

interface CachedPods {
  readonly pods: Promise<KnownPods>;
  readonly at: number;
  /** Size of the JSON; 0 until it is known. */
  bytes: number;
}

/** Time limit of a look-up: far below a request's deadline, because the decision and the answer need time too. */
export const MAX_LOOK_UP_MS = 250;
const FRESH_MS = 5_000;
const MAX_REMEMBERED = 16;
/** Size of the JSON; decoded objects take a few times as much. */
const MAX_REMEMBERED_BYTES = 4 * 1024 * 1024;
const MAX_AT_ONCE = 8;
const MAX_SELECTOR_LENGTH = 2_000;

/**
 * A look-up without a cache of all pods: reads on demand, remembers results for a few seconds, and bounds time, memory
 * and concurrency.
 */
export function createPodLookUp(client: KubeClient, clock: Clock): PodLookUp {
  const found = new Map<string, CachedPods>();
  let underWay = 0;

  function find({ namespace, selector }: PodSearch): Promise<KnownPods> {
    const labelSelector = selector === undefined ? '' : selectorText(selector);
    if (labelSelector.length > MAX_SELECTOR_LENGTH) return Promise.resolve(NO_KNOWN_PODS);
    const key = `${namespace} ${labelSelector}`;
    const before = found.get(key);
    if (before !== undefined && clock.monotonic() - before.at < FRESH_MS) return before.pods;
    if (underWay >= MAX_AT_ONCE) return Promise.resolve(NO_KNOWN_PODS);
    underWay += 1;
    const listed = list(namespace, labelSelector).finally(() => (underWay -= 1));
    const entry: CachedPods = { pods: listed, at: clock.monotonic(), bytes: 0 };
    found.delete(key);
    found.set(key, entry);
    void listed.then(({ bytes }) => {
      entry.bytes = bytes;
      forgetOldest(found);
    });
    forgetOldest(found);
    return listed;
  }

  function list(namespace: string, labelSelector: string): Promise<SomePods> {
    const options = { timeoutMs: MAX_LOOK_UP_MS, ...(labelSelector !== '' && { labelSelector }) };
    return withDeadline(
      (signal) => listSomePods(client, namespace, { ...options, signal }),
      MAX_LOOK_UP_MS,
      clock,
      NOT_ABORTED,
    );
  }

  return async (searches) => {
    const results = await Promise.all(searches.map(find));
    const pods = new Map(results.flatMap((result) => result.pods).map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
    return { pods: [...pods.values()], isPartial: results.some(({ isPartial }) => isPartial) };
  };
}

function forgetOldest(found: Map<string, CachedPods>): void {
  let bytes = Array.from(found.values(), (each) => each.bytes).reduce((sum, each) => sum + each, 0);
  for (const [key, oldest] of found) {
    if (found.size <= MAX_REMEMBERED && bytes <= MAX_REMEMBERED_BYTES) return;
    found.delete(key);
    bytes -= oldest.bytes;
  }
}

const PAGE_SIZE = 500;
const MAX_PAGES = 4;
const MAX_BYTES = 32 * 1024 * 1024;
/** Pods found are held until the answer is sent; a longer list would not be read. */
const MAX_FOUND = 100;
const DEADLINE_MS = 800;

/**
 * Finds pods that use a class, in all namespaces. There is no selector for that, so only the first pages are read, and
 * only for a short time. Never rejects: returns what was found by then.
 */
export function findPodsOfClass(client: KubeClient, clock: Clock, name: string): Promise<KnownPods> {
  return withDeadline((signal) => findUntil(client, name, signal), DEADLINE_MS, clock, NOT_ABORTED);
}

async function findUntil(client: KubeClient, name: string, signal: AbortSignal): Promise<KnownPods> {
  const found: Pod[] = [];
  const read = { bytes: 0, passedOver: 0 };
  const mention = Buffer.from(JSON.stringify(name));
  const pick = (json: Buffer): undefined => {
    read.bytes += json.length;
    if (!json.includes(mention)) return;
    const pod = found.length < MAX_FOUND ? readSmallPod(json) : undefined;
    if (pod === undefined) read.passedOver += 1;
    else if (pod.spec.priorityClassName === name) found.push(pod);
  };
  let continueToken: string | undefined;
  for (let page = 0; page < MAX_PAGES && !signal.aborted; page += 1) {
    const query = { limit: PAGE_SIZE, ...(continueToken !== undefined && { continueToken }) };
    const limits = { mostBytes: MAX_BYTES - read.bytes, timeoutMs: DEADLINE_MS, signal };
    const listed = await readSome(client, { resource: PODS }, { ...query, ...limits }, pick);
    if (listed.kind !== 'page') return { pods: found, isPartial: page > 0 };
    ({ continueToken } = listed);
    if (continueToken === undefined) return { pods: found, isPartial: listed.isCut || read.passedOver > 0 };
  }
  return { pods: found, isPartial: true };
}
