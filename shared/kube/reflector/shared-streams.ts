import { untilAborted } from '#shared/runtime/clock.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { resourcePath } from '#shared/kube/resource.ts';
import { createListWatch, type ListWatch, type ListWatchOptions } from './list-watch.ts';
import type { ObjectSink } from './reflector-target.ts';
import { REFLECTOR_BACKOFF } from './reflector-plan.ts';

/** What the parts of a process read the cluster with. */
export interface SharedContext extends ClientContext {
  readonly streams: Pick<SharedStreams, 'add'>;
}

/**
 * The lists and watches of a process whose parts read the same kinds: each collection is listed and watched once, and
 * every object is handed to all of its readers. Readers are added before `run`; one that is created later reads alone.
 */
export class SharedStreams {
  readonly #readers: SharedReader[] = [];
  #hasBegun = false;

  /** The reader of a sink; `undefined` if the streams run already. */
  add(options: ListWatchOptions, sink: ObjectSink): ListWatch | undefined {
    if (this.#hasBegun) return undefined;
    const reader = new SharedReader(options, sink);
    this.#readers.push(reader);
    return reader;
  }

  /** Lists and watches until `signal` aborts, once `ready` has resolved; never rejects. */
  async run(signal: AbortSignal, ready?: Promise<unknown>): Promise<void> {
    this.#hasBegun = true;
    const collections = Map.groupBy(this.#readers, ({ options }) => collectionOf(options));
    await ready;
    await Promise.all(Array.from(collections.values(), (readers) => readTogether(readers, signal)));
  }
}

/** One of several readers of a stream. */
class SharedReader implements ListWatch {
  readonly options: ListWatchOptions;
  readonly sink: ObjectSink;
  readonly #synced = Promise.withResolvers<undefined>();
  readonly synced = this.#synced.promise;
  #stream: ListWatch | undefined;

  constructor(options: ListWatchOptions, sink: ObjectSink) {
    this.options = options;
    this.sink = sink;
  }

  follow(stream: ListWatch): void {
    this.#stream = stream;
    void stream.synced.then(() => {
      this.#synced.resolve(undefined);
    });
  }

  /** The streams read for all of their readers. */
  run(signal: AbortSignal): Promise<void> {
    return untilAborted(signal);
  }

  isSynced(): boolean {
    return this.#stream?.isSynced() ?? false;
  }

  lastContactMs(): number | undefined {
    return this.#stream?.lastContactMs();
  }

  position(): string {
    return this.#stream?.position() ?? '';
  }
}

function collectionOf({ resource, namespace, fieldSelector, labelSelector }: ListWatchOptions): string {
  return JSON.stringify([resourcePath(resource, { namespace }), fieldSelector, labelSelector]);
}

async function readTogether(readers: readonly SharedReader[], signal: AbortSignal): Promise<void> {
  const options = commonOptions(readers.map((reader) => reader.options));
  if (options === undefined) return;
  const { listWatch } = createListWatch(options, () => toAll(readers.map(({ sink }) => sink)));
  for (const reader of readers) reader.follow(listWatch);
  await listWatch.run(signal);
}

/** Whole objects unless all readers need the same parts, and the shortest pauses that any of them asks for. */
function commonOptions(all: readonly ListWatchOptions[]): ListWatchOptions | undefined {
  const [first] = all;
  if (first === undefined) return undefined;
  const { message, ...options } = first;
  return {
    ...options,
    ...(message && all.every((each) => each.message === message) && { message }),
    isMetadataOnly: all.every((each) => each.isMetadataOnly === true),
    backoff: all
      .map(({ backoff = REFLECTOR_BACKOFF }) => backoff)
      .reduce((shortest, backoff) => (backoff.maxMs < shortest.maxMs ? backoff : shortest)),
  };
}

function toAll(sinks: readonly ObjectSink[]): ObjectSink {
  return {
    set: (raw) => {
      for (const sink of sinks) sink.set(raw);
    },
    remove: (raw) => {
      for (const sink of sinks) sink.remove(raw);
    },
    replace: () => {
      const ends = sinks.map((sink) => sink.replace());
      return () => {
        for (const end of ends) end();
      };
    },
  };
}
