import { decodeMessage, MessageCursor, UnreadableMessageError } from './decode-message.ts';
import { STATUS } from './kube-messages.ts';

/** The media type of Kubernetes protocol buffers. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';
/** The Accept header of readers of protocol buffers; a server that does not support them answers in JSON. */
export const PROTOBUF_OR_JSON = `${PROTOBUF}, application/json`;
/** The prefix of every object. */
export const MAGIC = Buffer.from('k8s\0');
/** Field of `runtime.Unknown`: the object itself, after its kind and version. */
export const RAW = 2;

/** Whether a response of this media type is in protocol buffers. */
export function isProtobuf(mediaType: string | undefined): boolean {
  return mediaType?.startsWith(PROTOBUF) === true;
}

/** The message of an object inside its envelope, `runtime.Unknown`. Throws UnreadableMessageError. */
export function openEnvelope(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new UnreadableMessageError('expected an object that begins with "k8s"');
  const cursor = new MessageCursor(bytes, MAGIC.length);
  while (cursor.next()) if (cursor.field === RAW) return cursor.content;
  throw new UnreadableMessageError('expected an object in its envelope');
}

/** The JSON form of a Status inside its envelope. Throws UnreadableMessageError. */
export function decodeStatus(bytes: Buffer): unknown {
  return decodeMessage(STATUS, openEnvelope(bytes));
}

/** An event of a watch, and the message of its object. */
interface WatchFrame {
  readonly type: string;
  readonly object: Buffer;
}

/** Fields of `WatchEvent`: its type, and a `RawExtension` that holds an envelope. */
const TYPE = 1;
const OBJECT = 2;
const RAW_OBJECT = 1;

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
  while (cursor.next()) if (cursor.field === RAW_OBJECT) return cursor.content;
  throw new UnreadableMessageError('expected an object in an event');
}
