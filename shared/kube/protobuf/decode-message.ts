import { MessageCursor } from './message-cursor.ts';

/**
 * What a field holds. A quantity is a message of one text; a time is a message of seconds, which JSON writes as RFC 3339.
 * Of a message only the fields that are named here are read.
 */
export type FieldType = 'text' | 'bool' | 'int32' | 'int64' | 'time' | 'quantity' | Message;

/** A field by its name in JSON. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** A list of such values, a map of them with text as keys, or a message whose fields JSON has beside the others. */
  readonly many?: 'list' | 'map' | 'inline';
}

/** The fields of a message by their numbers in the `generated.proto` of Kubernetes. */
export type Message = ReadonlyMap<number, Field>;

/** `{name: value}` as `JSON.parse` makes it. */
type Decoded = Record<string, unknown>;

/**
 * The JSON form of a message, as far as `message` names its fields, of the bytes between `from` and `to`. Throws
 * UnreadableMessageError.
 */
export function decodeMessage(message: Message, bytes: Buffer, from?: number, to?: number): Decoded {
  const decoded: Decoded = {};
  const cursor = new MessageCursor(bytes, from, to);
  while (cursor.next()) {
    const field = message.get(cursor.field);
    if (field !== undefined) take(decoded, field, cursor);
  }
  return decoded;
}

function take(decoded: Decoded, { name, type, many }: Field, cursor: MessageCursor): void {
  if (many === 'map') addEntry(mapIn(decoded, name), type, cursor);
  else if (many === 'inline') Object.assign(decoded, valueOf(type, cursor));
  else if (many === 'list') listIn(decoded, name).push(valueOf(type, cursor));
  else decoded[name] = valueOf(type, cursor);
}

function valueOf(type: FieldType, cursor: MessageCursor): unknown {
  switch (type) {
    case 'text':
      return cursor.text;
    case 'bool':
      return cursor.integer !== 0;
    case 'int32':
      return cursor.int32;
    case 'int64':
      return cursor.integer;
    case 'time':
      return timeIn(cursor);
    case 'quantity':
      return textIn(cursor);
    default:
      return decodeMessage(type, cursor.bytes, cursor.start, cursor.end);
  }
}

function textIn({ bytes, start, end }: MessageCursor): string {
  const cursor = new MessageCursor(bytes, start, end);
  let text = '';
  while (cursor.next()) if (cursor.field === 1) text = cursor.text;
  return text;
}

/** A time beyond the range of Date is kept as a number in text, which no decoder accepts as a time. */
function timeIn({ bytes, start, end }: MessageCursor): string {
  const cursor = new MessageCursor(bytes, start, end);
  let seconds = 0;
  while (cursor.next()) if (cursor.field === 1) seconds = cursor.integer;
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? String(seconds) : time.toISOString();
}

function addEntry(map: Decoded, type: FieldType, { bytes, start, end }: MessageCursor): void {
  const cursor = new MessageCursor(bytes, start, end);
  let key = '';
  let value: unknown = '';
  while (cursor.next()) {
    if (cursor.field === 1) key = cursor.text;
    if (cursor.field === 2) value = valueOf(type, cursor);
  }
  map[key] = value;
}

/** Without a prototype: a key may be any text. */
function mapIn(decoded: Decoded, name: string): Decoded {
  return (decoded[name] ??= Object.create(null)) as Decoded;
}

function listIn(decoded: Decoded, name: string): unknown[] {
  return (decoded[name] ??= []) as unknown[];
}
