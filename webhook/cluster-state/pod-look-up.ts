import { NO_KNOWN_PODS, type KnownPods, type PodSearch } from '#shared/domain/admission/known-pods.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import { listSomePods, type SomePods } from '#shared/kube/list-some-pods.ts';
import { selectorText } from '#shared/kube/selector-text.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { withDeadline } from '#shared/runtime/deadline.ts';

/**
 * Finds pods where a sentence gets better by them and nothing depends on them. Never rejects: what cannot be read in
 * time is not known. All that are found, of all searches together.
 */
export type PodLookUp = (searches: readonly PodSearch[]) => Promise<KnownPods>;

interface Found {
  readonly pods: Promise<KnownPods>;
  readonly at: number;
  /** Of JSON; 0 until it is known. */
  bytes: number;
}

/** How long a look-up takes at most: far below a request's deadline, for the answer and the decision need time too. */
export const LONGEST_LOOK_UP_MS = 250;
const FRESH_MS = 5_000;
const MOST_REMEMBERED = 16;
/** Of JSON; what is made of it takes some times as much. */
const MOST_REMEMBERED_BYTES = 4 * 1024 * 1024;
const MOST_AT_ONCE = 8;
const LONGEST_SELECTOR = 2_000;
const NEVER = new AbortController().signal;

/** A look-up without a cache of all pods: asked on demand, remembered for a few seconds, bounded in everything. */
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
