import { isKubeObject } from '#shared/kube/kube-object.ts';
import { parseItem, UnreadableListError } from '#shared/kube/list/list-scanner.ts';
import { readPages } from './read-pages.ts';
import type { Reading } from './reflector-plan.ts';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { OBJECT_HEAD } from '#shared/kube/protobuf/kube-messages.ts';
import type { Target, WireFormat } from './reflector-target.ts';

/** Reads all pages of a list into the store; `resourceVersion` '0' allows the server's cache, undefined does not. */
export async function readList(
  target: Target,
  resourceVersion: string | undefined,
  signal: AbortSignal,
): Promise<Reading> {
  const removeUnseen = target.store.replace();
  const pages = await readPages(target, { pageSize: target.pageSize, resourceVersion, signal }, (bytes, format) =>
    storeItem(target, bytes, format),
  );
  if (pages.kind !== 'read') return { ending: pages, during: 'list', hasProgressed: false };
  target.heard();
  removeUnseen();
  target.listed(pages.resourceVersion);
  return { ending: { kind: 'listed' }, during: 'list', hasProgressed: false };
}

function storeItem(target: Target, bytes: Buffer, format: WireFormat): void {
  const item = format === 'json' ? parseItem(bytes) : decodeMessage(target.message ?? OBJECT_HEAD, bytes);
  if (!isKubeObject(item)) throw new UnreadableListError('an item without metadata.name');
  target.heard();
  target.store.set(item);
}
