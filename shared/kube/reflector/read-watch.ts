import type { ByteStream } from '#shared/kube/client/client.ts';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { isProtobuf, readWatchFrame } from '#shared/kube/protobuf/envelope.ts';
import { OBJECT_HEAD, STATUS } from '#shared/kube/protobuf/kube-messages.ts';
import { isKubeObject, type KubeObject } from '#shared/kube/kube-object.ts';
import { isRecord, jsonIn } from '#shared/kube/decode/wire-object.ts';
import { type Failure, failureOf } from '#shared/kube/client/outcome.ts';
import { splitFrames, splitLines } from './split-frames.ts';
import type { Ending, EndedReading, Step } from './reflector-plan.ts';
import { bytesOf, endingOf, LARGEST_OBJECT_BYTES, openStream, type Target } from './reflector-target.ts';

const DECIMAL = /^\d+$/;
const SHORT_WATCH_MS = 1_000;
/** Watches end after 5 to 10 minutes, so that those of a cluster do not all reconnect at once. */
const SHORTEST_WATCH_SECONDS = 300;

/** Applies changes after `resourceVersion` to the store until the watch ends for any reason. */
export function readWatch(target: Target, resourceVersion: string, signal: AbortSignal): Promise<EndedReading> {
  return openWatch(target, { resourceVersion }, 'watch', signal);
}

/**
 * As `readWatch`, but the whole list comes first, as events (WatchList): the server never builds it as one response.
 */
export function readStreamedList(target: Target, signal: AbortSignal): Promise<EndedReading> {
  return openWatch(target, { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }, 'list', signal);
}

async function openWatch(
  target: Target,
  start: Readonly<Record<string, string | boolean>>,
  during: Step,
  signal: AbortSignal,
): Promise<EndedReading> {
  const timeoutSeconds = target.watchSeconds?.() ?? Math.floor(SHORTEST_WATCH_SECONDS * (1 + target.random()));
  const opened = await openStream(target, { ...start, watch: true, allowWatchBookmarks: true, timeoutSeconds }, signal);
  if (opened.kind !== 'ok') return { ending: { kind: 'refused', failure: opened }, during, hasProgressed: false };
  const state: WatchState = {
    target,
    during,
    hasProgressed: false,
    position: typeof start['resourceVersion'] === 'string' ? start['resourceVersion'] : '',
    removeUnseen: during === 'list' ? target.store.replace() : () => undefined,
  };
  const ending = await follow(state, opened.object);
  return { ending, during: state.during, hasProgressed: state.hasProgressed };
}

interface WatchState {
  readonly target: Target;
  readonly removeUnseen: () => void;
  during: Step;
  hasProgressed: boolean;
  /** The version up to which the store is known to be right; empty during a list. */
  position: string;
}

async function follow(state: WatchState, stream: ByteStream): Promise<Ending> {
  const { clock } = state.target;
  const startedAt = clock.monotonic();
  try {
    for await (const event of eventsOf(state.target, stream)) {
      const ending = apply(state, event);
      if (ending !== undefined) return ending;
      state.target.onActivity();
    }
  } catch (error) {
    return endingOf(error);
  }
  return { kind: 'ended', wasShort: !state.hasProgressed && clock.monotonic() - startedAt < SHORT_WATCH_MS };
}

async function* eventsOf(target: Target, stream: ByteStream): AsyncGenerator<WatchEvent> {
  const bytes = bytesOf(target, stream);
  if (isProtobuf(stream.mediaType)) {
    for await (const frame of splitFrames(bytes, LARGEST_OBJECT_BYTES)) yield eventOfFrame(target, frame);
  } else {
    for await (const line of splitLines(bytes, LARGEST_OBJECT_BYTES)) yield eventOfLine(target, line);
  }
}

function eventOfLine(target: Target, line: Buffer): WatchEvent {
  const resourceVersion = target.shouldSkip?.(line, 'json');
  return resourceVersion === undefined
    ? decodeWatchEvent(line.toString('utf8'))
    : { kind: 'passedOver', resourceVersion };
}

function eventOfFrame({ shouldSkip, message = OBJECT_HEAD }: Target, frame: Buffer): WatchEvent {
  const { type, object } = readWatchFrame(frame);
  if (type === 'ERROR') return watchEventOf({ type, object: decodeMessage(STATUS, object) });
  const resourceVersion = shouldSkip?.(object, 'protobuf');
  if (resourceVersion !== undefined) return { kind: 'passedOver', resourceVersion };
  return watchEventOf({ type, object: decodeMessage(message, object) });
}

/** Applies one event; returns an ending if the watch cannot continue. */
function apply(state: WatchState, event: WatchEvent): Ending | undefined {
  if (event.kind === 'refused' || event.kind === 'unreadable') return event;
  if (isBefore(event.resourceVersion, state.position))
    return { kind: 'unreadable', message: `the watch went back from ${state.position} to ${event.resourceVersion}` };
  if (event.kind === 'set') state.target.store.set(event.object);
  if (event.kind === 'removed') state.target.store.remove(event.object);
  if (event.kind === 'bookmark' && event.endsInitialEvents) endList(state, event.resourceVersion);
  if (state.during === 'watch') advance(state, event.resourceVersion);
  return undefined;
}

function endList(state: WatchState, resourceVersion: string): void {
  state.removeUnseen();
  state.during = 'watch';
  state.position = resourceVersion;
  state.target.onListed(resourceVersion);
}

function advance(state: WatchState, resourceVersion: string): void {
  state.hasProgressed = true;
  state.position = resourceVersion;
  state.target.onPosition(resourceVersion);
}

/**
 * Versions of one kind are numbers that grow (documented since Kubernetes 1.35); any others are not compared. What is in
 * the store may never have happened if they go back.
 */
function isBefore(version: string, position: string): boolean {
  if (!DECIMAL.test(version) || !DECIMAL.test(position)) return false;
  return Number(version) < Number(position);
}

/** One event of a watch. `refused` is the server's own error; events that cannot be decoded are `unreadable`. */
type WatchEvent =
  | { readonly kind: 'set'; readonly object: KubeObject; readonly resourceVersion: string }
  | { readonly kind: 'removed'; readonly object: KubeObject; readonly resourceVersion: string }
  | { readonly kind: 'bookmark'; readonly resourceVersion: string; readonly endsInitialEvents: boolean }
  | { readonly kind: 'passedOver'; readonly resourceVersion: string }
  | { readonly kind: 'refused'; readonly failure: Failure }
  | { readonly kind: 'unreadable'; readonly message: string };

const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Decodes one line of a watch; never throws. */
export function decodeWatchEvent(line: string): WatchEvent {
  const event = jsonIn(line);
  return isRecord(event) ? watchEventOf(event) : unreadable('a line that is not a JSON object');
}

/** As `decodeWatchEvent` for a parsed event. */
function watchEventOf({ type, object }: Readonly<Record<string, unknown>>): WatchEvent {
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
