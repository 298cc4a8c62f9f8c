import { isKubeObject, isRecord, type KubeObject } from '#shared/kube/kube-object.ts';
import { failureOf, type Failure } from '#shared/kube/client/outcome.ts';

/** One event of a watch. `refused` is the server's own error; anything not understood is `unreadable`. */
export type WatchEvent =
  | { readonly kind: 'set'; readonly object: KubeObject; readonly resourceVersion: string }
  | { readonly kind: 'removed'; readonly object: KubeObject; readonly resourceVersion: string }
  | { readonly kind: 'bookmark'; readonly resourceVersion: string; readonly endsInitialEvents: boolean }
  | { readonly kind: 'passedOver'; readonly resourceVersion: string }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'unreadable'; readonly message: string };

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Reads one line of a watch; never throws. */
export function decodeWatchEvent(line: string): WatchEvent {
  const event = parse(line);
  return isRecord(event) ? watchEventOf(event) : unreadable('a line that is no JSON object');
}

/** As `decodeWatchEvent`, of an event that is parsed. */
export function watchEventOf({ type, object }: Readonly<Record<string, unknown>>): WatchEvent {
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return change('set', object);
    case 'DELETED':
      return change('removed', object);
    case 'BOOKMARK':
      return bookmark(object);
    case 'ERROR':
      return refused(object);
    default:
      return unreadable(`an event of unknown type ${String(type).slice(0, 50)}`);
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function change(kind: 'set' | 'removed', object: unknown): WatchEvent {
  if (!isKubeObject(object)) return unreadable('an object without metadata.name');
  const { resourceVersion } = object.metadata;
  if (typeof resourceVersion !== 'string') return unreadable('an object without metadata.resourceVersion');
  return { kind, object, resourceVersion };
}

function bookmark(object: unknown): WatchEvent {
  const metadata = isRecord(object) && isRecord(object['metadata']) ? object['metadata'] : {};
  const { resourceVersion, annotations } = metadata;
  if (typeof resourceVersion !== 'string') return unreadable('a bookmark without metadata.resourceVersion');
  const endsInitialEvents = isRecord(annotations) && annotations[INITIAL_EVENTS_END] === 'true';
  return { kind: 'bookmark', resourceVersion, endsInitialEvents };
}

function refused(status: unknown): WatchEvent {
  const code = isRecord(status) ? status['code'] : undefined;
  if (typeof code !== 'number') return unreadable('an error without code');
  return { kind: 'refused', failure: failureOf(code, status) };
}

function unreadable(what: string): WatchEvent {
  return { kind: 'unreadable', message: `the watch sent ${what}` };
}
