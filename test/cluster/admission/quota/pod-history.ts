import { at, type Harness, pod, textAt, uniqueName, type WatchLine } from '#test/contract/harness.ts';
import { linesOf } from '#test/contract/lines-of.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const AGAIN_AFTER_MS = 100;

/** All watch events about the pods of a namespace, from its creation on. */
export interface PodHistory {
  /** The maximum number of pods of a class that existed at one time so far. */
  mostAtOnce(priorityClassName: string): Promise<number>;
  close(): Promise<void>;
}

/** Follows the pods of the harness's namespace, which has none yet. */
export async function podHistory(api: Harness): Promise<PodHistory> {
  const path = api.core('pods');
  const seen: WatchLine[] = [];
  const closing = new AbortController();
  const { body } = await api.get(path);
  const following = follow(api, seen, textAt(body, 'metadata.resourceVersion'), closing.signal);

  return {
    mostAtOnce: async (priorityClassName) => {
      const marker = uniqueName('marker');
      await api.post(path, pod(marker));
      await eventually(() => {
        if (!seen.some(({ object }) => at(object, 'metadata.name') === marker)) throw new Error('history is behind');
        return Promise.resolve();
      }, 30_000);
      return fullest(seen.filter(({ object }) => at(object, 'spec.priorityClassName') === priorityClassName));
    },
    close: async () => {
      closing.abort();
      await following;
    },
  };
}

/** A watch ends when its reader was slow or nothing happened for long; the next one goes on where it stopped. */
async function follow(api: Harness, seen: WatchLine[], from: string, signal: AbortSignal): Promise<void> {
  let resourceVersion = from;
  while (!signal.aborted) {
    const query = { watch: true, resourceVersion };
    const stream = await api.client.stream({ path: api.core('pods'), query, signal });
    if (stream.kind !== 'ok') {
      await letTimePass(AGAIN_AFTER_MS, 'load');
      continue;
    }
    try {
      for await (const line of linesOf(stream.object)) {
        const event = JSON.parse(line) as WatchLine;
        seen.push(event);
        resourceVersion = textAt(event.object, 'metadata.resourceVersion');
      }
    } catch (error) {
      if (!isBroken(error)) throw error;
    }
  }
}

/** Whether a connection ended, by us or by the server. */
function isBroken(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}

function fullest(history: readonly WatchLine[]): number {
  const there = new Set<string>();
  let most = 0;
  for (const { type, object } of history) {
    const uid = textAt(object, 'metadata.uid');
    if (type === 'DELETED') there.delete(uid);
    else there.add(uid);
    most = Math.max(most, there.size);
  }
  return most;
}
