import type { Buffer } from 'node:buffer';

/** One field of a protobuf message as it stands on the wire. */
export interface WireField {
  readonly number: number;
  /** A varint or fixed number, or the bytes of text, bytes or a message. */
  readonly value: bigint | Buffer;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** Splits a message into its fields. Throws RangeError for bytes that are no message. */
export function readFields(message: Buffer): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    const field = readValue(message, tag.end, Number(tag.value & 7n));
    fields.push({ number: Number(tag.value >> 3n), value: field.value });
    at = field.end;
  }
  return fields;
}

interface Read<T> {
  readonly value: T;
  /** Where the next thing begins. */
  readonly end: number;
}

function readValue(message: Buffer, at: number, wireType: number): Read<bigint | Buffer> {
  switch (wireType) {
    case VARINT:
      return readVarint(message, at);
    case FIXED64:
      return { value: message.readBigUInt64LE(at), end: at + 8 };
    case BYTES:
      return readBytes(message, at);
    case FIXED32:
      return { value: BigInt(message.readUInt32LE(at)), end: at + 4 };
    default:
      throw new RangeError(`Cannot read a protobuf message: unknown wire type ${wireType}`);
  }
}

function readBytes(message: Buffer, at: number): Read<Buffer> {
  const length = readVarint(message, at);
  const end = length.end + Number(length.value);
  if (end > message.length) throw new RangeError('Cannot read a protobuf message: it ends too early');
  return { value: message.subarray(length.end, end), end };
}

const LONGEST_VARINT = 10;

function readVarint(message: Buffer, at: number): Read<bigint> {
  let value = 0n;
  for (let n = 0; n < LONGEST_VARINT; n += 1) {
    const byte = message[at + n];
    if (byte === undefined) break;
    value |= BigInt(byte & 0x7f) << BigInt(7 * n);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: at + n + 1 };
  }
  throw new RangeError('Cannot read a protobuf message: a number does not end');
}
