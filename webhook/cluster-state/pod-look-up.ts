import { NO_KNOWN_PODS, type KnownPods, type PodSearch } from '#shared/domain/admission/known-pods.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { listSomePods, selectorText, type SomePods } from '#shared/kube/list/read-some.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { withDeadline } from '#shared/runtime/deadline.ts';

/**
 * Finds pods that make a message more helpful; no verdict depends on them. Never rejects: pods that cannot be read in
 * time are left out. Returns the pods of all searches together.
 */
export type PodLookUp = (searches: readonly PodSearch[]) => Promise<KnownPods>;

interface Found {
  readonly pods: Promise<KnownPods>;
  readonly at: number;
  /** Size of the JSON; 0 until it is known. */
  bytes: number;
}

/** Time limit of a look-up: far below a request's deadline, because the decision and the answer need time too. */
export const LONGEST_LOOK_UP_MS = 250;
const FRESH_MS = 5_000;
const MOST_REMEMBERED = 16;
/** Size of the JSON; decoded objects take a few times as much. */
const MOST_REMEMBERED_BYTES = 4 * 1024 * 1024;
const MOST_AT_ONCE = 8;
const LONGEST_SELECTOR = 2_000;
const NEVER = new AbortController().signal;

/**
 * A look-up without a cache of all pods: reads on demand, remembers results for a few seconds, and bounds time, memory
 * and concurrency.
 */
export function createPodLookUp(client: KubeClient, clock: Clock): PodLookUp {
  const found = new Map<string, Found>();
  let underWay = 0;

  function find({ namespace, selector }: PodSearch): Promise<KnownPods> {
    const labelSelector = selector === undefined ? '' : selectorText(selector);
    if (labelSelector.length > LONGEST_SELECTOR) return Promise.resolve(NO_KNOWN_PODS);
    const key = `${namespace} ${labelSelector}`;
    const before = found.get(key);
    if (before !== undefined && clock.monotonic() - before.at < FRESH_MS) return before.pods;
    if (underWay >= MOST_AT_ONCE) return Promise.resolve(NO_KNOWN_PODS);
    underWay += 1;
    const listed = list(namespace, labelSelector).finally(() => (underWay -= 1));
    const entry: Found = { pods: listed, at: clock.monotonic(), bytes: 0 };
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
    const options = { timeoutMs: LONGEST_LOOK_UP_MS, ...(labelSelector !== '' && { labelSelector }) };
    return withDeadline(
      (signal) => listSomePods(client, namespace, { ...options, signal }),
      LONGEST_LOOK_UP_MS,
      clock,
      NEVER,
    );
  }

  return async (searches) => {
    const results = await Promise.all(searches.map(find));
    const pods = new Map(results.flatMap((result) => result.pods).map((pod) => [`${pod.namespace}/${pod.name}`, pod]));
    return { pods: [...pods.values()], isPartial: results.some(({ isPartial }) => isPartial) };
  };
}

function forgetOldest(found: Map<string, Found>): void {
  let bytes = Array.from(found.values(), (each) => each.bytes).reduce((sum, each) => sum + each, 0);
  for (const [key, oldest] of found) {
    if (found.size <= MOST_REMEMBERED && bytes <= MOST_REMEMBERED_BYTES) return;
    found.delete(key);
    bytes -= oldest.bytes;
  }
}
