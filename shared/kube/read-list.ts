import { isKubeObject } from './kube-object.ts';
import { scanList, UnreadableListError } from './list-scanner.ts';
import type { Ending, Reading } from './reflector-plan.ts';
import { endingOf, LARGEST_OBJECT_BYTES, LONGEST_SILENCE_MS, openStream, type Target } from './reflector-target.ts';
import { untilSilent } from './until-silent.ts';

/** Reads all pages of a list into the store; `resourceVersion` '0' allows the server's cache, undefined does not. */
export async function readList(
  target: Target,
  resourceVersion: string | undefined,
  signal: AbortSignal,
): Promise<Reading> {
  const removeUnseen = target.store.replace();
  let page = await readPage(target, { resourceVersion }, signal);
  while (page.kind === 'page' && page.continueToken !== undefined) {
    page = await readPage(target, { continue: page.continueToken }, signal);
  }
  if (page.kind !== 'page') return { ending: page, during: 'list', hasProgressed: false };
  removeUnseen();
  target.listed(page.resourceVersion);
  return { ending: { kind: 'listed' }, during: 'list', hasProgressed: false };
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

async function readPage(target: Target, query: PageQuery, signal: AbortSignal): Promise<Page | Ending> {
  const opened = await openStream(target, { ...query, limit: target.pageSize }, signal);
  if (opened.kind !== 'ok') return { kind: 'refused', failure: opened };
  try {
    const bytes = untilSilent(opened.object, LONGEST_SILENCE_MS, target.clock);
    const metadata = await scanList(bytes, (item) => storeItem(target, item), LARGEST_OBJECT_BYTES);
    target.heard();
    return pageOf(metadata);
  } catch (error) {
    return endingOf(error);
  }
}

function storeItem(target: Target, item: unknown): void {
  if (!isKubeObject(item)) throw new UnreadableListError('an item without metadata.name');
  target.store.set(item);
}

function pageOf(metadata: Readonly<Record<string, unknown>>): Page {
  const { resourceVersion, continue: token } = metadata;
  if (typeof resourceVersion !== 'string') throw new UnreadableListError('a list without metadata.resourceVersion');
  const hasMore = typeof token === 'string' && token !== '';
  return { kind: 'page', resourceVersion, continueToken: hasMore ? token : undefined };
}
