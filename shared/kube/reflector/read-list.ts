import { isKubeObject } from '#shared/kube/kube-object.ts';
import { parseItem, scanItems, UnreadableListError } from '#shared/kube/list/list-scanner.ts';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { OBJECT_HEAD } from '#shared/kube/protobuf/kube-messages.ts';
import type { ByteStream } from '#shared/kube/client/client.ts';
import { isProtobuf } from '#shared/kube/protobuf/envelope.ts';
import { scanProtobufItems } from '#shared/kube/protobuf/scan-list.ts';
import type { Ending, EndedReading } from './reflector-plan.ts';
import {
  bytesOf,
  endingOf,
  LARGEST_OBJECT_BYTES,
  openStream,
  type PageSize,
  type Collection,
  type Target,
  type WireFormat,
} from './reflector-target.ts';

/** Reads all pages of a list into the store; `resourceVersion` '0' allows the server's cache, undefined does not. */
export async function readList(
  target: Target,
  resourceVersion: string | undefined,
  signal: AbortSignal,
): Promise<EndedReading> {
  const removeUnseen = target.store.replace();
  const pages = await readPages(target, { pageSize: target.pageSize, resourceVersion, signal }, (bytes, format) =>
    storeItem(target, bytes, format),
  );
  if (pages.kind !== 'read') return { ending: pages, during: 'list', hasProgressed: false };
  target.onActivity();
  removeUnseen();
  target.onListed(pages.resourceVersion);
  return { ending: { kind: 'listed' }, during: 'list', hasProgressed: false };
}

function storeItem(target: Target, bytes: Buffer, format: WireFormat): void {
  const item = format === 'json' ? parseItem(bytes) : decodeMessage(target.message ?? OBJECT_HEAD, bytes);
  if (!isKubeObject(item)) throw new UnreadableListError('an item without metadata.name');
  target.onActivity();
  target.store.set(item);
}

interface PagesOptions {
  readonly pageSize: PageSize;
  /** `0` allows the server's cache, `undefined` reads from storage; all pages are from the same moment. */
  readonly resourceVersion?: string | undefined;
  readonly signal: AbortSignal;
}

/** Receives the bytes of an item. */
type OnItem = (item: Buffer, format: WireFormat) => void;

/** How reading all pages ended: with the version of the list, or early. */
export type Pages = { readonly kind: 'read'; readonly resourceVersion: string } | Ending;

/** Reads a collection page by page and item by item, holding one item at a time. */
export async function readPages(
  source: Collection,
  { pageSize, resourceVersion, signal }: PagesOptions,
  onItem: OnItem,
): Promise<Pages> {
  let query: PageQuery = { resourceVersion };
  for (;;) {
    const page = await readPage(source, { ...query, pageSize, signal }, onItem);
    if (page.kind !== 'page') return page;
    if (page.continueToken === undefined) return { kind: 'read', resourceVersion: page.resourceVersion };
    query = { continue: page.continueToken };
  }
}

interface Page {
  readonly kind: 'page';
  readonly continueToken: string | undefined;
  readonly resourceVersion: string;
}

interface PageQuery {
  readonly resourceVersion?: string | undefined;
  readonly continue?: string;
}

async function readPage(
  source: Collection,
  { pageSize, signal, ...query }: PageQuery & Omit<PagesOptions, 'resourceVersion'>,
  onItem: OnItem,
): Promise<Page | Ending> {
  const opened = await openStream(source, { ...query, limit: pageSize.next() }, signal);
  if (opened.kind !== 'ok') {
    pageSize.failed();
    return { kind: 'refused', failure: opened };
  }
  try {
    return await scanPage(source, opened.object, pageSize, onItem);
  } catch (error) {
    pageSize.failed();
    return endingOf(error);
  }
}

async function scanPage(source: Collection, stream: ByteStream, pageSize: PageSize, onItem: OnItem): Promise<Page> {
  const read = { items: 0, bytes: 0 };
  const isInProtobuf = isProtobuf(stream.mediaType);
  const counted = (item: Buffer): void => {
    read.items += 1;
    read.bytes += item.length;
    onItem(item, isInProtobuf ? 'protobuf' : 'json');
  };
  const scan = isInProtobuf ? scanProtobufItems : scanItems;
  const metadata = await scan(bytesOf(source, stream), counted, LARGEST_OBJECT_BYTES);
  pageSize.read(read.items, read.bytes);
  return pageOf(metadata);
}

function pageOf(metadata: Readonly<Record<string, unknown>>): Page {
  const { resourceVersion, continue: token } = metadata;
  if (typeof resourceVersion !== 'string') throw new UnreadableListError('a list without metadata.resourceVersion');
  const hasMore = typeof token === 'string' && token !== '';
  return { kind: 'page', resourceVersion, continueToken: hasMore ? token : undefined };
}
