import type { KubeClient } from '#shared/kube/client/client.ts';
import { scanItems } from './list-scanner.ts';
import type { CollectionAddress } from '#shared/kube/client/objects.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import { resourcePath } from '#shared/kube/resource.ts';

export interface SomeOptions {
  readonly limit: number;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly continueToken?: string;
  /** Reading stops before more than so many bytes of the page were taken. */
  readonly mostBytes: number;
  readonly timeoutMs: number;
  /** Ends also the reading of the answer. */
  readonly signal: AbortSignal;
}

/** What was read of a page. */
export interface SomePage<T> {
  readonly kind: 'page';
  readonly items: readonly T[];
  readonly continueToken: string | undefined;
  /** There was more in this page: its bytes or the time were used up. */
  readonly isCut: boolean;
}

/**
 * Reads a page of a collection item by item, for readers to whom more would only be nicer: one item is held at a time,
 * and `pick` decides from its JSON what is kept of it. Never rejects; what was picked before the end counts.
 */
export async function readSome<T>(
  client: KubeClient,
  { resource, namespace }: CollectionAddress,
  { mostBytes, timeoutMs, signal, continueToken, ...query }: SomeOptions,
  pick: (json: Buffer) => T | undefined,
): Promise<SomePage<T> | Failure> {
  const path = resourcePath(resource, { namespace });
  const opened = await client.stream({ path, query: { ...query, continue: continueToken }, timeoutMs, signal });
  if (opened.kind !== 'ok') return opened;
  const items: T[] = [];
  const keep = (json: Buffer): void => {
    const picked = pick(json);
    if (picked !== undefined) items.push(picked);
  };
  try {
    const metadata = await scanItems(firstBytes(opened.object, mostBytes), keep, mostBytes);
    const token = metadata['continue'];
    const hasMore = typeof token === 'string' && token !== '';
    return { kind: 'page', items, continueToken: hasMore ? token : undefined, isCut: false };
  } catch {
    opened.object.close();
    return { kind: 'page', items, continueToken: undefined, isCut: true };
  }
}

async function* firstBytes(bytes: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let taken = 0;
  for await (const chunk of bytes) {
    taken += chunk.length;
    if (taken > most) throw new Error(`the page is longer than ${most} bytes`);
    yield chunk;
  }
}
