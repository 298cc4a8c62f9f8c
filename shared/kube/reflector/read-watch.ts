import type { ByteStream } from '#shared/kube/client/client.ts';
import { splitLines } from './json-lines.ts';
import { decodeMessage } from '#shared/kube/protobuf/decode-message.ts';
import { isProtobuf } from '#shared/kube/protobuf/envelope.ts';
import { OBJECT_HEAD, STATUS } from '#shared/kube/protobuf/kube-messages.ts';
import { splitFrames } from './split-frames.ts';
import { readWatchFrame } from '#shared/kube/protobuf/watch-frame.ts';
import type { Ending, Reading, Step } from './reflector-plan.ts';
import { bytesOf, endingOf, LARGEST_OBJECT_BYTES, openStream, type Target } from './reflector-target.ts';
import { decodeWatchEvent, watchEventOf, type WatchEvent } from './watch-event.ts';

const SHORT_WATCH_MS = 1_000;
/** Watches end after 5 to 10 minutes, so that not all of a cluster's come back at once. */
const SHORTEST_WATCH_SECONDS = 300;

/** Reads changes after `resourceVersion` into the store, until the watch ends, whatever ends it. */
export function readWatch(target: Target, resourceVersion: string, signal: AbortSignal): Promise<Reading> {
  return openWatch(target, { resourceVersion }, 'watch', signal);
}

/** As `readWatch`, but the whole list comes first, as events (WatchList): the server never builds it as one answer. */
export function readStreamedList(target: Target, signal: AbortSignal): Promise<Reading> {
  return openWatch(target, { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }, 'list', signal);
}

async function openWatch(
  target: Target,
  start: Readonly<Record<string, string | boolean>>,
  during: Step,
  signal: AbortSignal,
): Promise<Reading> {
  const timeoutSeconds = target.watchSeconds?.() ?? Math.floor(SHORTEST_WATCH_SECONDS * (1 + target.random()));
  const opened = await openStream(target, { ...start, watch: true, allowWatchBookmarks: true, timeoutSeconds }, signal);
  if (opened.kind !== 'ok') return { ending: { kind: 'refused', failure: opened }, during, hasProgressed: false };
  const state: WatchState = {
    target,
    during,
    hasProgressed: false,
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
}

async function follow(state: WatchState, stream: ByteStream): Promise<Ending> {
  const { clock } = state.target;
  const startedAt = clock.monotonic();
  try {
    for await (const event of eventsOf(state.target, stream)) {
      const ending = apply(state, event);
      if (ending !== undefined) return ending;
      state.target.heard();
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
  const resourceVersion = target.passesOver?.(line, 'json');
  return resourceVersion === undefined
    ? decodeWatchEvent(line.toString('utf8'))
    : { kind: 'passedOver', resourceVersion };
}

function eventOfFrame({ passesOver, message = OBJECT_HEAD }: Target, frame: Buffer): WatchEvent {
  const { type, object } = readWatchFrame(frame);
  if (type === 'ERROR') return watchEventOf({ type, object: decodeMessage(STATUS, object) });
  const resourceVersion = passesOver?.(object, 'protobuf');
  if (resourceVersion !== undefined) return { kind: 'passedOver', resourceVersion };
  return watchEventOf({ type, object: decodeMessage(message, object) });
}

/** Takes in one event; an ending when the watch cannot be followed any further. */
function apply(state: WatchState, event: WatchEvent): Ending | undefined {
  if (event.kind === 'refused' || event.kind === 'unreadable') return event;
  if (event.kind === 'set') state.target.store.set(event.object);
  if (event.kind === 'removed') state.target.store.remove(event.object);
  if (event.kind === 'bookmark' && event.endsInitialEvents) endList(state, event.resourceVersion);
  if (state.during === 'watch') advance(state, event.resourceVersion);
  return undefined;
}

function endList(state: WatchState, resourceVersion: string): void {
  state.removeUnseen();
  state.during = 'watch';
  state.target.listed(resourceVersion);
}

function advance(state: WatchState, resourceVersion: string): void {
  state.hasProgressed = true;
  state.target.moved(resourceVersion);
}
