import type { KubeClient } from '#shared/kube/client/client.ts';
import { at, textAt, type WatchLine } from '#test/contract/harness.ts';
import { linesOf } from '#test/contract/lines-of.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const AGAIN_AFTER_MS = 100;

/** Follows every event of a collection from now on, in `seen`, until `signal` aborts. */
export async function followLines(client: KubeClient, path: string, seen: WatchLine[], signal: AbortSignal) {
  // The storage of a new kind is initialized a moment after its definition.
  const position = async () => textAt(await client.request({ path }), 'object.metadata.resourceVersion');
  let resourceVersion = await eventually(position);
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      const stream = await client.stream({ path, query: { watch: true, resourceVersion }, signal });
      if (stream.kind === 'ok') resourceVersion = await readLines(stream.object, seen, resourceVersion);
      await letTimePass(AGAIN_AFTER_MS, 'load', signal);
    }
  };
  return { following: follow() };
}

/** Resolves with the resourceVersion of the last event when the server or `signal` has ended the watch. */
async function readLines(stream: Parameters<typeof linesOf>[0], seen: WatchLine[], from: string): Promise<string> {
  let resourceVersion = from;
  try {
    for await (const line of linesOf(stream)) {
      const event = JSON.parse(line) as WatchLine;
      seen.push(event);
      resourceVersion = textAt(event.object, 'metadata.resourceVersion');
    }
  } catch (error) {
    if (at(error, 'code') === undefined) throw error;
  }
  return resourceVersion;
}
