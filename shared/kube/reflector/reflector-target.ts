import type { Clock } from '#shared/runtime/clock.ts';
import { yielding } from '#shared/runtime/turns/turns.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { ByteStream, KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/transport.ts';
import { paced, type SpendBytes, type Ending } from './reflector-plan.ts';
import { UnreadableListError } from '#shared/kube/list/list-scanner.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { type WireMessage, UnreadableMessageError } from '#shared/kube/protobuf/decode-message.ts';
import { PROTOBUF_OR_JSON } from '#shared/kube/protobuf/envelope.ts';
import { type Resource, resourcePath } from '#shared/kube/resource.ts';
import { OversizedLineError } from './split-frames.ts';
import type { ObjectSink } from './reflector-store.ts';

/** A collection to list or watch. */
export interface Collection {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /** Asks for protocol buffers, of which no more is read than this. JSON where it is not given, or the server has none. */
  readonly message?: WireMessage;
  /** Asks for the metadata of the objects alone. */
  readonly isMetadataOnly?: boolean;
  /** Called before each piece of a stream is read, with its bytes; a stream is read as fast as it comes where absent. */
  readonly spendBytes?: SpendBytes | undefined;
  readonly clock: Clock;
}

/** What objects are read from. */
export type WireFormat = 'json' | 'protobuf';

/** What a reflector reads, where it stores it, and its callbacks. */
export interface Target extends Collection {
  readonly pageSize: PageSize;
  readonly random: () => number;
  readonly store: ObjectSink;
  /** The server said something. */
  readonly onActivity: () => void;
  /** A list is complete; a watch may begin at its version. */
  readonly onListed: (resourceVersion: string) => void;
  /** The store now stands at this version. */
  readonly onPosition: (resourceVersion: string) => void;
  /** The resourceVersion of an object that may be passed over, by the look of its first bytes; `undefined` for others. */
  readonly shouldSkip?: (bytes: Buffer, format: WireFormat) => string | undefined;
  /** How long the server shall keep a watch open; some minutes where it is not said. */
  readonly watchSeconds?: () => number | undefined;
}

/** The API server refuses objects above 3 MiB; what is several times larger is no object. */
export const LARGEST_OBJECT_BYTES = 16 * 1024 * 1024;

/** Bookmarks come about every minute, so a longer silence means a dead connection. */
const MAX_SILENCE_MS = 90_000;

const UNREADABLE = [UnreadableListError, UnreadableMessageError, OversizedLineError];

/** The bytes of a stream, in turns with other work, at the pace of the source, until it ends or falls silent. */
export function bytesOf({ clock, spendBytes }: Collection, stream: ByteStream): AsyncIterable<Buffer> {
  const bytes = untilSilent(stream, MAX_SILENCE_MS, clock);
  return yielding(spendBytes === undefined ? bytes : paced(bytes, spendBytes), clock);
}

/** Opens a list or a watch. */
export function openStream(
  source: Collection,
  query: NonNullable<KubeRequest['query']>,
  signal: AbortSignal,
): Promise<Outcome<ByteStream>> {
  const { client, resource, namespace, fieldSelector, labelSelector } = source;
  const accept = acceptFor(source, query['watch'] === true);
  return client.stream({
    path: resourcePath(resource, { namespace }),
    ...(accept !== undefined && { accept }),
    query: { ...query, fieldSelector, labelSelector },
    signal,
  });
}

function acceptFor({ message, isMetadataOnly = false }: Collection, isWatch: boolean): string | undefined {
  if (!isMetadataOnly) return message && PROTOBUF_OR_JSON;
  const kind = isWatch ? 'PartialObjectMetadata' : 'PartialObjectMetadataList';
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`;
}

/** What an error while reading means. */
export function endingOf(error: unknown): Ending {
  const message = errorText(error);
  if (error instanceof SilentStreamError) return { kind: 'silent', message };
  return { kind: UNREADABLE.some((kind) => error instanceof kind) ? 'unreadable' : 'broken', message };
}

/** How many objects to ask for at once, so that a page has some bytes whatever the objects are like. */
export interface PageSize {
  next(): number;
  /** A page came; also one that was cut off. */
  read(items: number, bytes: number): void;
  /** A page did not come, or not to its end. */
  failed(): void;
}

/** An API server builds a page as a whole before it sends it, and gives it up after a minute. */
const PAGE_BYTES = 8 * 1024 * 1024;
const AFTER_FAILURE = 1 / 4;

/** Pages of at most `most` objects, and of at most some MiB once it is known how large objects are. */
export function createPageSize(most: number): PageSize {
  let size = most;
  return {
    next: () => size,
    read: (items, bytes) => {
      if (items > 0) size = bounded((PAGE_BYTES * items) / bytes, most);
    },
    failed: () => void (size = bounded(size * AFTER_FAILURE, most)),
  };
}

function bounded(size: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor(size)));
}

/** Thrown when a connection stays open but says nothing. */
class SilentStreamError extends Error {
  override readonly name = 'SilentStreamError';
}

/** The bytes of a stream, until it ends or has been silent for `silenceMs`; then it is closed and SilentStreamError thrown. */
async function* untilSilent(stream: ByteStream, silenceMs: number, clock: Clock): AsyncGenerator<Buffer> {
  const done = new AbortController();
  const state = { lastAt: clock.monotonic(), isSilent: false };

  async function watchdog(): Promise<void> {
    while (!done.signal.aborted && !state.isSilent) {
      const remaining = state.lastAt + silenceMs - clock.monotonic();
      if (remaining > 0) await clock.sleep(remaining, done.signal);
      else state.isSilent = true;
    }
    stream.close();
  }

  const watching = watchdog();
  try {
    for await (const chunk of stream) {
      state.lastAt = clock.monotonic();
      yield chunk;
    }
  } catch (error) {
    throw state.isSilent ? new SilentStreamError(`silent for ${silenceMs} ms`, { cause: error }) : error;
  } finally {
    done.abort();
    await watching;
  }
}
