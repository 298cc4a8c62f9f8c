/** Thrown for bytes that are no message of protocol buffers, or none of the expected shape. */
export class UnreadableMessageError extends Error {
  override readonly name = 'UnreadableMessageError';
}

/** Wire types: https://protobuf.dev/programming-guides/encoding/ */
const VARINT = 0;
const FIXED64 = 1;
/** Text, bytes, and messages in a message. */
const BYTES = 2;
const FIXED32 = 5;
const WIRE_TYPE_BITS = 3;
const LONGEST_VARINT = 10;
/** Each byte of a varint holds seven bits, and says by the eighth whether more follow. */
const BASE = 0x80;
const BITS_OF_BYTE = 7;
const BITS_OF_INT32 = 32;

/**
 * Goes through the fields of a message one by one. What is not asked for costs nothing but its tag: the length of a field
 * stands before it. Throws UnreadableMessageError for bytes that are no message.
 */
export class MessageCursor {
  readonly bytes: Buffer;
  readonly #to: number;
  #at: number;
  /** Number of the present field. */
  field = 0;
  /** Where its text, bytes or message stand; equal for a number. */
  start = 0;
  end = 0;
  /** Its value where it is a varint that is not negative, exact up to 2^53; 0 where it is none. */
  integer = 0;
  /** The same as a signed number of 32 bits. */
  int32 = 0;

  constructor(bytes: Buffer, from = 0, to = bytes.length) {
    this.bytes = bytes;
    this.#at = from;
    this.#to = to;
  }

  /** Goes to the next field; false behind the last one. */
  next(): boolean {
    if (this.#at >= this.#to) return false;
    const tag = this.#varint();
    this.field = tag >>> WIRE_TYPE_BITS;
    this.#enter(tag & 7);
    if (this.#at > this.#to) throw new UnreadableMessageError('a field ends behind its message');
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
    for (let bits = 0; bits < LONGEST_VARINT * BITS_OF_BYTE && this.#at < this.#to; bits += BITS_OF_BYTE) {
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
