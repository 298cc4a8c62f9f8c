/** Distinguished Encoding Rules (X.690), as far as a certificate needs them: each function gives one encoded element. */

const TAG = { boolean: 0x01, integer: 0x02, bitString: 0x03, octetString: 0x04, objectId: 0x06, utf8: 0x0c } as const;
const CONSTRUCTED = { sequence: 0x30, set: 0x31 } as const;
const GENERALIZED_TIME = 0x18;
const UTC_TIME = 0x17;

export function derSequence(...elements: readonly Uint8Array[]): Buffer {
  return element(CONSTRUCTED.sequence, Buffer.concat(elements));
}

export function derSet(...elements: readonly Uint8Array[]): Buffer {
  return element(CONSTRUCTED.set, Buffer.concat(elements));
}

/** A non-negative integer from its big-endian bytes. */
export function derInteger(bytes: Uint8Array): Buffer {
  const first = bytes[0] ?? 0;
  return element(TAG.integer, first < 0x80 ? bytes : Buffer.concat([Buffer.of(0), bytes]));
}

export function derBoolean(value: boolean): Buffer {
  return element(TAG.boolean, Buffer.of(value ? 0xff : 0));
}

export function derBitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return element(TAG.bitString, Buffer.concat([Buffer.of(unusedBits), bytes]));
}

export function derOctetString(bytes: Uint8Array): Buffer {
  return element(TAG.octetString, bytes);
}

export function derUtf8(text: string): Buffer {
  return element(TAG.utf8, Buffer.from(text, 'utf8'));
}

/** An object identifier from its dotted form. */
export function derObjectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAG.objectId, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** RFC 5280 asks for UTCTime until 2049 and GeneralizedTime from 2050 on, both in whole seconds. */
export function derTime(ms: number): Buffer {
  const time = new Date(ms);
  const digits = time.toISOString().replace(/[-:T]|\.\d+/g, '');
  const isShort = time.getUTCFullYear() < 2050;
  return element(isShort ? UTC_TIME : GENERALIZED_TIME, Buffer.from(isShort ? digits.slice(2) : digits, 'ascii'));
}

/** An element tagged `[number]`, either around whole elements or in place of a simple element's own tag. */
export function derTagged(number: number, content: Uint8Array, form: 'constructed' | 'primitive'): Buffer {
  return element((form === 'constructed' ? 0xa0 : 0x80) | number, content);
}

function element(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  const significant = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.of(0x80 | significant.length), significant]);
}

function base128(value: number): number[] {
  const high = Math.floor(value / 128);
  const low = value % 128;
  return high === 0 ? [low] : [...base128(high).map((byte) => byte | 0x80), low];
}
