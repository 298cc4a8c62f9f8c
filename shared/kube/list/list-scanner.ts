import { isRecord } from '#shared/kube/decode/wire-object.ts';

/** Thrown if the bytes are not a well-formed Kubernetes list, or an item is larger than the API server allows. */
export class UnreadableListError extends Error {
  override readonly name = 'UnreadableListError';
}

/**
 * Reads a Kubernetes list item by item from its bytes, so that no text ever holds more than one object: a list of 150
 * 000 pods exceeds the maximum string length. Passes on the bytes of each item, so that readers can decide which items
 * to parse. Resolves with the list's own `metadata` once the whole list has been read and checked.
 */
export async function scanItems(
  bytes: AsyncIterable<Buffer>,
  onItem: (json: Buffer) => void,
  largestItem: number,
): Promise<Readonly<Record<string, unknown>>> {
  const scan = new ListScan(onItem, largestItem);
  for await (const chunk of bytes) scan.push(chunk);
  return scan.finish();
}

/** Parses the items of `scanItems`; throws UnreadableListError if one is not JSON. */
export function parseItem(json: Buffer): unknown {
  return parse(json.toString('utf8'));
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const STRUCTURE = new Uint8Array(256);
for (const byte of [QUOTE, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET]) STRUCTURE[byte] = 1;

const IN_LIST = 1;
const IN_ITEMS = 2;
const PLACEHOLDER = Buffer.from('0');

/**
 * Two regions alternate: an item, passed on as soon as it ends, and the envelope around the items, in which `0`
 * replaces each item. Parsing the envelope at the end proves that brackets, commas and keys were right.
 */
class ListScan {
  readonly #onItem: (json: Buffer) => void;
  readonly #largestItem: number;
  readonly #envelope: Buffer[] = [];
  /** Pieces of the current region from earlier chunks. */
  #held: Buffer[] = [];
  #heldSize = 0;
  #items = 0;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #inItems = false;
  #inItem = false;
  /** Where the current region starts in the current chunk. */
  #start = 0;

  constructor(onItem: (json: Buffer) => void, largestItem: number) {
    this.#onItem = onItem;
    this.#largestItem = largestItem;
  }

  push(chunk: Buffer): void {
    this.#start = 0;
    let position = 0;
    while (position < chunk.length) {
      position = this.#inString ? this.#skipString(chunk, position) : this.#nextStructure(chunk, position);
    }
    this.#hold(chunk.subarray(this.#start));
  }

  finish(): Readonly<Record<string, unknown>> {
    this.#endEnvelope();
    const list = parse(Buffer.concat(this.#envelope).toString('utf8'));
    // Go may encode an empty list as `null`.
    const items = isRecord(list) ? (list['items'] ?? []) : undefined;
    const isWhole = Array.isArray(items) && items.length === this.#items && items.every((item) => item === 0);
    if (!isRecord(list) || !isWhole)
      throw new UnreadableListError('expected an object with a list of objects as items');
    return isRecord(list['metadata']) ? list['metadata'] : {};
  }

  #skipString(chunk: Buffer, from: number): number {
    let isEscaped = this.#isEscaped;
    for (let position = from; position < chunk.length; position += 1) {
      const byte = chunk[position];
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        this.#isEscaped = false;
        return position + 1;
      }
    }
    this.#isEscaped = isEscaped;
    return chunk.length;
  }

  #nextStructure(chunk: Buffer, from: number): number {
    for (let position = from; position < chunk.length; position += 1) {
      const byte = chunk[position] ?? 0;
      if (STRUCTURE[byte] === 0) continue;
      this.#enter(byte, chunk, position);
      return position + 1;
    }
    return chunk.length;
  }

  #enter(byte: number, chunk: Buffer, position: number): void {
    if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_BRACE) this.#openObject(chunk, position);
    else if (byte === CLOSE_BRACE) this.#closeObject(chunk, position);
    else if (byte === OPEN_BRACKET) this.#openArray(chunk, position);
    else this.#closeArray();
  }

  #openObject(chunk: Buffer, position: number): void {
    if (this.#inItems && this.#depth === IN_ITEMS) {
      this.#hold(chunk.subarray(this.#start, position));
      this.#endEnvelope();
      this.#inItem = true;
      this.#start = position;
    }
    this.#depth += 1;
  }

  #closeObject(chunk: Buffer, position: number): void {
    this.#depth -= 1;
    if (!this.#inItem || this.#depth !== IN_ITEMS) return;
    this.#hold(chunk.subarray(this.#start, position + 1));
    this.#inItem = false;
    this.#items += 1;
    this.#envelope.push(PLACEHOLDER);
    this.#start = position + 1;
    this.#onItem(this.#take());
  }

  #openArray(chunk: Buffer, position: number): void {
    if (this.#depth === IN_LIST) this.#inItems = this.#followsItemsKey(chunk.subarray(this.#start, position));
    this.#depth += 1;
  }

  #closeArray(): void {
    this.#depth -= 1;
    if (this.#depth === IN_LIST) this.#inItems = false;
  }

  #followsItemsKey(current: Buffer): boolean {
    const before = Buffer.concat([...this.#envelope, ...this.#held, current]);
    return /(?<!\\)"items"\s*:\s*$/.test(before.toString('latin1'));
  }

  #hold(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#heldSize += piece.length;
    if (this.#heldSize > this.#largestItem) {
      throw new UnreadableListError(`an item is longer than ${this.#largestItem} bytes`);
    }
    this.#held.push(piece);
  }

  #take(): Buffer {
    const [only, second] = this.#held;
    const whole = only !== undefined && second === undefined ? only : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldSize = 0;
    return whole;
  }

  /** A copy, so that a comma between two items does not keep a whole chunk alive. */
  #endEnvelope(): void {
    this.#envelope.push(Buffer.from(this.#take()));
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UnreadableListError(`not JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
