import { at, eventually, type Harness, pod, textAt, uniqueName, type WatchLine } from '#test/contract/harness.ts';
import { linesOf } from '#test/contract/lines-of.ts';

/** Everything that the API server tells about the pods of a namespace, from its beginning. */
export interface PodHistory {
  /** How many pods of a class existed at the fullest moment until now. */
  mostAtOnce(priorityClassName: string): Promise<number>;
  close(): Promise<void>;
}

/** Follows the pods of the harness's namespace, which has none yet. */
export async function podHistory(api: Harness): Promise<PodHistory> {
  const path = api.core('pods');
  const resourceVersion = textAt((await api.get(path)).body, 'metadata.resourceVersion');
  const stream = await api.client.stream({ path, query: { watch: true, resourceVersion } });
  if (stream.kind !== 'ok') throw new Error(`cannot watch pods: ${stream.message}`);
  const seen: WatchLine[] = [];
  const following = (async () => {
    for await (const line of linesOf(stream.object)) seen.push(JSON.parse(line) as WatchLine);
  })();

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
      stream.object.close();
      // Being closed is an error to whoever reads.
      await following.catch(() => undefined);
    },
  };
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
