/**
 * The type of a field. A quantity is a message with one text; a time is a message with seconds, which JSON writes as
 * RFC 3339. Of a nested message only the listed fields are read.
 */
type FieldType = 'text' | 'bool' | 'int32' | 'int64' | 'time' | 'quantity' | WireMessage;

/** A field and its name in JSON. */
export interface Field {
  readonly name: string;
  readonly type: FieldType;
  /** A list of such values, a map with text keys, or a message whose fields are inlined in JSON. */
  readonly many?: 'list' | 'map' | 'inline';
}

/** The fields of a message by their numbers in Kubernetes' `generated.proto`. */
export type WireMessage = ReadonlyMap<number, Field>;

/** `{name: value}` as `JSON.parse` builds it. */
type JsonFields = Record<string, unknown>;

/**
 * The JSON form of the message between `from` and `to`, limited to the fields that `message` names. Throws
 * UnreadableMessageError.
 */
export function decodeMessage(message: WireMessage, bytes: Buffer, from?: number, to?: number): JsonFields {
  const decoded: JsonFields = {};
  const cursor = new MessageCursor(bytes, from, to);
  while (cursor.next()) {
    const field = message.get(cursor.field);
    if (field !== undefined) take(decoded, field, cursor);
  }
  return decoded;
}

function take(decoded: JsonFields, { name, type, many }: Field, cursor: MessageCursor): void {
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

/** A time beyond the range of Date stays a number in text, which no decoder accepts as a time. */
function timeIn({ bytes, start, end }: MessageCursor): string {
  const cursor = new MessageCursor(bytes, start, end);
  let seconds = 0;
  while (cursor.next()) if (cursor.field === 1) seconds = cursor.integer;
  const time = new Date(seconds * 1_000);
  return Number.isNaN(time.getTime()) ? String(seconds) : time.toISOString();
}

function addEntry(map: JsonFields, type: FieldType, { bytes, start, end }: MessageCursor): void {
  const cursor = new MessageCursor(bytes, start, end);
  let key = '';
  let value: unknown = '';
  while (cursor.next()) {
    if (cursor.field === 1) key = cursor.text;
    if (cursor.field === 2) value = valueOf(type, cursor);
  }
  map[key] = value;
}

/** Without a prototype, because a key may be any text. */
function mapIn(decoded: JsonFields, name: string): JsonFields {
  return (decoded[name] ??= Object.create(null)) as JsonFields;
}

function listIn(decoded: JsonFields, name: string): unknown[] {
  return (decoded[name] ??= []) as unknown[];
}

/** Thrown if the bytes are not a message in protocol buffers, or do not have the expected shape. */
export class UnreadableMessageError extends Error {
  override readonly name = 'UnreadableMessageError';
}

/** Wire types: https://protobuf.dev/programming-guides/encoding/ */
const VARINT = 0;
const FIXED64 = 1;
/** Text, bytes, and nested messages. */
const BYTES = 2;
const FIXED32 = 5;
const WIRE_TYPE_BITS = 3;
const MAX_VARINT_LENGTH = 10;
/** Each byte of a varint holds seven bits; its eighth bit says whether more bytes follow. */
const BASE = 0x80;
const BITS_OF_BYTE = 7;
const BITS_OF_INT32 = 32;

/**
 * Reads the fields of a message one by one. A skipped field costs only its tag, because its length comes first. Throws
 * UnreadableMessageError if the bytes are not a message.
 */
export class MessageCursor {
  readonly bytes: Buffer;
  readonly #to: number;
  #at: number;
  /** Number of the current field. */
  field = 0;
  /** Start and end of its text, bytes or message; equal for a number. */
  start = 0;
  end = 0;
  /** Its value if it is a nonnegative varint, exact up to 2^53; otherwise 0. */
  integer = 0;
  /** The same as a signed 32-bit number. */
  int32 = 0;

  constructor(bytes: Buffer, from = 0, to = bytes.length) {
    this.bytes = bytes;
    this.#at = from;
    this.#to = to;
  }

  /** Moves to the next field; false after the last one. */
  next(): boolean {
    if (this.#at >= this.#to) return false;
    const tag = this.#varint();
    this.field = tag >>> WIRE_TYPE_BITS;
    this.#enter(tag & 7);
    if (this.#at > this.#to) throw new UnreadableMessageError('a field ends after its message');
    return true;
  }

  get text(): string {
    return this.bytes.toString('utf8', this.start, this.end);
  }

  get content(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }

  #enter(wireType: number): void {
    this.integer = wireType === VARINT ? this.#varint() : 0;
    const length = wireType === BYTES ? this.#varint() : 0;
    this.start = this.#at;
    this.end = this.#at + length;
    this.#at = this.end + sizeOf(wireType);
  }

  #varint(): number {
    let value = 0;
    let low = 0;
    let factor = 1;
    for (let bits = 0; bits < MAX_VARINT_LENGTH * BITS_OF_BYTE && this.#at < this.#to; bits += BITS_OF_BYTE) {
      const byte = this.bytes[this.#at++] ?? 0;
      value += (byte % BASE) * factor;
      if (bits < BITS_OF_INT32) low |= (byte % BASE) << bits;
      if (byte < BASE) {
        this.int32 = low;
        return value;
      }
      factor *= BASE;
    }
    throw new UnreadableMessageError('a number does not end');
  }
}

function sizeOf(wireType: number): number {
  switch (wireType) {
    case VARINT:
    case BYTES:
      return 0;
    case FIXED64:
      return 8;
    case FIXED32:
      return 4;
    default:
      throw new UnreadableMessageError(`unknown wire type ${wireType}`);
  }
}
