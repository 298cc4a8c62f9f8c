import type { Clock } from '#shared/runtime/clock.ts';
import { yielding } from '#shared/runtime/turns/turns.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { ByteStream, KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import { paced, type SpendBytes, type Ending } from './reflector-plan.ts';
import { UnreadableListError } from '#shared/kube/list/list-scanner.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { type WireMessage, UnreadableMessageError } from '#shared/kube/protobuf/decode-message.ts';
import { PROTOBUF_OR_JSON } from '#shared/kube/protobuf/envelope.ts';
import { type Resource, resourcePath } from '#shared/kube/resource.ts';
import { OversizedLineError } from './split-frames.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** A collection to list or watch. */
export interface Collection {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly namespace?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
  /**
   * Asks for protocol buffers, and decodes only these fields. JSON if absent, or if the server does not support
   * protocol buffers.
   */
  readonly message?: WireMessage;
  /** Asks only for the metadata of the objects. */
  readonly isMetadataOnly?: boolean;
  /**
   * Called with the size of each piece of a stream before it is read. Without it, a stream is read as fast as it
   * arrives.
   */
  readonly spendBytes?: SpendBytes | undefined;
  readonly clock: Clock;
}

/** The encoding of objects on the wire. */
export type WireFormat = 'json' | 'protobuf';

/** What a reflector reads, where it stores it, and its callbacks. */
export interface Target extends Collection {
  readonly pageSize: PageSize;
  readonly random: () => number;
  readonly store: ObjectSink;
  /** The server sent something. */
  readonly onActivity: () => void;
  /** A list is complete; a watch may start at this version. */
  readonly onListed: (resourceVersion: string) => void;
  /** The store is now at this version. */
  readonly onPosition: (resourceVersion: string) => void;
  /**
   * Returns the resourceVersion of an object that can be skipped, judging by its first bytes; `undefined` for other
   * objects.
   */
  readonly shouldSkip?: (bytes: Buffer, format: WireFormat) => string | undefined;
  /** How long the server should keep a watch open; some minutes by default. */
  readonly watchSeconds?: () => number | undefined;
}

/** Receives the objects of one kind as a reflector reads them. None of its functions may throw. */
export interface ObjectSink {
  readonly set: (raw: KubeObject) => void;
  readonly remove: (raw: KubeObject) => void;
  /**
   * Starts a replacement by a fresh list. Each object set from now on replaces its predecessor at once, so that the
   * store is never held twice; the returned function removes objects that were not set.
   */
  readonly replace: () => () => void;
}

/** The API server rejects objects above 3 MiB, so anything several times larger is not an object. */
export const LARGEST_OBJECT_BYTES = 16 * 1024 * 1024;

/** Bookmarks come about every minute, so a longer silence means a dead connection. */
const MAX_SILENCE_MS = 90_000;

const UNREADABLE = [UnreadableListError, UnreadableMessageError, OversizedLineError];

/** The bytes of a stream until it ends or falls silent, at the rate of the source, yielding to other work. */
export function bytesOf({ clock, spendBytes }: Collection, stream: ByteStream): AsyncIterable<Buffer> {
  const bytes = withIdleTimeout(stream, MAX_SILENCE_MS, clock);
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

/** Classifies an error while reading. */
export function endingOf(error: unknown): Ending {
  const message = errorText(error);
  if (error instanceof SilentStreamError) return { kind: 'silent', message };
  return { kind: UNREADABLE.some((kind) => error instanceof kind) ? 'unreadable' : 'broken', message };
}

/** How many objects to request at once, so that pages have about the same size whatever the objects are. */
export interface PageSize {
  next(): number;
  /** A page arrived, completely or in part. */
  read(items: number, bytes: number): void;
  /** A page did not arrive, or was interrupted. */
  failed(): void;
}

/** An API server builds a whole page before it sends it, and gives up after a minute. */
const PAGE_BYTES = 8 * 1024 * 1024;
const AFTER_FAILURE = 1 / 4;

/** Pages of at most `most` objects, and of at most some MiB once the size of objects is known. */
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

/** Thrown if a connection stays open without data. */
class SilentStreamError extends Error {
  override readonly name = 'SilentStreamError';
}

/**
 * The bytes of a stream until it ends. After `silenceMs` without data, closes the stream and throws SilentStreamError.
 */
async function* withIdleTimeout(stream: ByteStream, silenceMs: number, clock: Clock): AsyncGenerator<Buffer> {
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
