import { decodeMessage } from './decode-message.ts';
import { STATUS } from './kube-messages.ts';
import { MessageCursor, UnreadableMessageError } from './message-cursor.ts';

/** The media type of Kubernetes' own protocol buffers. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf';
/** What is asked for where protocol buffers are understood; a server that has none answers in JSON. */
export const PROTOBUF_OR_JSON = `${PROTOBUF}, application/json`;
/** Stands before every object. */
export const MAGIC = Buffer.from('k8s\0');
/** Of `runtime.Unknown`: the object itself, behind its kind and version. */
export const RAW = 2;

/** Whether an answer of this media type is in protocol buffers. */
export function isProtobuf(mediaType: string | undefined): boolean {
  return mediaType?.startsWith(PROTOBUF) === true;
}

/** The message of an object that stands in its envelope, `runtime.Unknown`. Throws UnreadableMessageError. */
export function openEnvelope(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC))
    throw new UnreadableMessageError('expected an object that begins with "k8s"');
  const cursor = new MessageCursor(bytes, MAGIC.length);
  while (cursor.next()) if (cursor.field === RAW) return cursor.content;
  throw new UnreadableMessageError('expected an object in its envelope');
}

/** The JSON form of a Status in its envelope. Throws UnreadableMessageError. */
export function decodeStatus(bytes: Buffer): unknown {
  return decodeMessage(STATUS, openEnvelope(bytes));
}
