import { decodeMessage, UnreadableMessageError } from './decode-message.ts';
import { MAGIC, RAW } from './envelope.ts';
import { LIST_META } from './kube-messages.ts';

/**
 * Reads a Kubernetes list in protocol buffers item by item from its bytes, as `scanItems` does for JSON, and passes on
 * the message of each item. Resolves with the list's own `metadata` at the end of the list. Throws
 * UnreadableMessageError if the bytes are not a list, or if an item has more than `largestItem` bytes.
 */
export async function scanProtobufItems(
  bytes: AsyncIterable<Buffer>,
  onItem: (message: Buffer) => void,
  largestItem: number,
): Promise<Readonly<Record<string, unknown>>> {
  const scan = new ListScan(onItem, largestItem);
  for await (const chunk of bytes) scan.push(chunk);
  return scan.finish();
}

const METADATA = 1;
const ITEM = 2;
const WIRE_TYPE_BITS = 3;
const BYTES = 2;
const CONTINUED = 0x80;
/** A tag and a length. */
const MAX_HEAD_BYTES = 20;

/** The head of a field that holds text, bytes or a message: everything before the value. */
interface FieldHead {
  readonly field: number;
  readonly size: number;
  readonly length: number;
}

/**
 * Two messages are nested: the envelope, and the list in its field `RAW`. Fields of the list and the other fields of
 * the envelope are read once all of their bytes have arrived; for `RAW` the head is enough.
 */
class ListScan {
  readonly #onItem: (message: Buffer) => void;
  readonly #largestItem: number;
  #metadata: Readonly<Record<string, unknown>> = {};
  #held: Buffer[] = [];
  #heldSize = 0;
  /** The number of bytes needed to continue. */
  #needed = MAGIC.length;
  #hasBegun = false;
  /** The remaining bytes of the list; `undefined` before it starts. */
  #left: number | undefined;

  constructor(onItem: (message: Buffer) => void, largestItem: number) {
    this.#onItem = onItem;
    this.#largestItem = largestItem;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    // Copies only as much of the new chunk as the field from an earlier chunk needs.
    while (this.#heldSize > 0 && rest.length > 0) {
      const missing = this.#needed - this.#heldSize;
      this.#hold(rest.subarray(0, missing));
      rest = rest.subarray(missing);
      if (this.#heldSize >= this.#needed) this.#readHeld();
    }
    if (rest.length > 0) this.#hold(rest.subarray(this.#read(rest)));
  }

  finish(): Readonly<Record<string, unknown>> {
    if (this.#left !== 0 || this.#heldSize > 0) throw new UnreadableMessageError('a list ends too early');
    return this.#metadata;
  }

  #hold(bytes: Buffer): void {
    if (bytes.length > 0) this.#held.push(bytes);
    this.#heldSize += bytes.length;
  }

  #readHeld(): void {
    const bytes = Buffer.concat(this.#held);
    this.#held = [];
    this.#heldSize = 0;
    this.#hold(bytes.subarray(this.#read(bytes)));
  }

  /** The number of bytes that were consumed. */
  #read(bytes: Buffer): number {
    if (!this.#hasBegun && bytes.length < this.#needed) return 0;
    let at = this.#hasBegun ? 0 : beginOf(bytes);
    this.#hasBegun = true;
    for (;;) {
      const head = readHead(bytes, at);
      this.#needed = head === undefined ? bytes.length - at + 1 : this.#sizeOf(head);
      if (head === undefined || bytes.length - at < this.#needed) return at;
      this.#enter(head, bytes.subarray(at + head.size, at + this.#needed));
      at += this.#needed;
    }
  }

  #sizeOf({ field, size, length }: FieldHead): number {
    const isList = !this.#isInList && field === RAW;
    if (!isList && length > this.#largestItem)
      throw new UnreadableMessageError(`an item is longer than ${this.#largestItem} bytes`);
    return isList ? size : size + length;
  }

  get #isInList(): boolean {
    return this.#left !== undefined && this.#left > 0;
  }

  #enter({ field, size, length }: FieldHead, value: Buffer): void {
    if (!this.#isInList) {
      if (field === RAW) this.#left = length;
      return;
    }
    this.#left = (this.#left ?? 0) - size - length;
    if (this.#left < 0) throw new UnreadableMessageError('an item ends after its list');
    if (field === METADATA) this.#metadata = decodeMessage(LIST_META, value);
    if (field === ITEM) this.#onItem(value);
  }
}

function beginOf(bytes: Buffer): number {
  if (bytes.subarray(0, MAGIC.length).equals(MAGIC)) return MAGIC.length;
  throw new UnreadableMessageError('expected a list that begins with "k8s"');
}

/**
 * `undefined` until the head is complete. Throws if the value has no length: lists and envelopes have no such fields.
 */
function readHead(bytes: Buffer, at: number): FieldHead | undefined {
  const tag = readVarint(bytes, at);
  const length = tag && readVarint(bytes, tag.end);
  if (tag === undefined || length === undefined) {
    if (bytes.length - at > MAX_HEAD_BYTES) throw new UnreadableMessageError('a number does not end');
    return undefined;
  }
  if ((tag.value & 7) !== BYTES) throw new UnreadableMessageError('expected a list of messages');
  return { field: tag.value >>> WIRE_TYPE_BITS, size: length.end - at, length: length.value };
}

function readVarint(bytes: Buffer, from: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  let factor = 1;
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    value += (byte % CONTINUED) * factor;
    if (byte < CONTINUED) return { value, end: at + 1 };
    factor *= CONTINUED;
  }
  return undefined;
}
