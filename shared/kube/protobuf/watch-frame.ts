import { MessageCursor, UnreadableMessageError } from './message-cursor.ts';
import { openEnvelope } from './envelope.ts';

/** An event of a watch, and the message of the object that it is about. */
export interface WatchFrame {
  readonly type: string;
  readonly object: Buffer;
}

/** Of `WatchEvent`: its type, and a `RawExtension` that holds an envelope. */
const TYPE = 1;
const OBJECT = 2;
const RAW = 1;

/** Reads a frame of a watch. Throws UnreadableMessageError. */
export function readWatchFrame(frame: Buffer): WatchFrame {
  const cursor = new MessageCursor(frame);
  let type = '';
  let extension: Buffer | undefined;
  while (cursor.next()) {
    if (cursor.field === TYPE) type = cursor.text;
    if (cursor.field === OBJECT) extension = cursor.content;
  }
  if (extension === undefined) throw new UnreadableMessageError('expected an event with an object');
  return { type, object: openEnvelope(contentOf(extension)) };
}

function contentOf(extension: Buffer): Buffer {
  const cursor = new MessageCursor(extension);
  while (cursor.next()) if (cursor.field === RAW) return cursor.content;
  throw new UnreadableMessageError('expected an object in an event');
}
