import type { Steps } from '#shared/domain/model/steps.ts';

/**
 * Which parts of a value to read if it is too large to parse at once; other fields are skipped. A list is read item by
 * item. `whole`: the value as it is, while there is room. `always`: the value even if there is no room. `present`: only
 * whether the field is set. `controller`: only the owner reference that is the controller.
 */
export type Shape = 'whole' | 'always' | 'present' | 'controller' | Fields;

/** By name; `*` is any other field. */
interface Fields {
  readonly [field: string]: Shape;
}

/** The parts of a value that were read. */
export interface PartRead {
  readonly value: unknown;
  /** There was no room for everything that the shape names. */
  readonly isCutShort: boolean;
}

/** Bytes scanned in one step, which takes a fraction of a millisecond. */
const STEP_BYTES = 64 * 1024;
/** Maximum size of the parts that are read: they are parsed and decoded in a few milliseconds. */
const MAX_READ_BYTES = 256 * 1024;
/** Values that are always read are names and numbers; an owner has a few of them. */
const MAX_NAME_BYTES = 16 * 1024;
/** A smaller value takes as long to read as one of this length. */
const LEAST_VALUE_BYTES = 32;
const CONTROLLER = '"controller":true';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** By character: how it changes the depth of lists and objects. */
const DEPTH_CHANGES = new Int8Array(256);
DEPTH_CHANGES[OPEN_LIST] = DEPTH_CHANGES[OPEN_OBJECT] = 1;
DEPTH_CHANGES[CLOSE_LIST] = DEPTH_CHANGES[CLOSE_OBJECT] = -1;

/** The position of a scan. */
interface Scan {
  at: number;
  depth: number;
  isText: boolean;
}

/**
 * The index of the comma or bracket that follows a value, or the length of the bytes if there is none. `JSON.parse`
 * cannot pause, and blocks the event loop for 20 to 80 ms on the largest pod.
 */
export function* endOfValue(json: Buffer, from: number): Steps<number> {
  const scan = { at: from, depth: 0, isText: false };
  while (!reachEnd(json, scan, scan.at + STEP_BYTES)) yield;
  return Math.min(scan.at, json.length);
}

/** Whether the value ends before `stop`. */
function reachEnd(json: Buffer, scan: Scan, stop: number): boolean {
  const last = Math.min(stop, json.length);
  let { at, depth, isText } = scan;
  for (; at < last; at += 1) {
    const code = json[at] as number;
    if (isText) {
      if (code === BACKSLASH) at += 1;
      else isText = code !== QUOTE;
    } else if (code === QUOTE) isText = true;
    else if (depth === 0 && (code === COMMA || (DEPTH_CHANGES[code] as number) < 0)) break;
    else depth += DEPTH_CHANGES[code] as number;
  }
  const hasEnded = at < last || at >= json.length;
  Object.assign(scan, { at, depth, isText });
  return hasEnded;
}

/** Reads a part of a JSON value, written as Go writes it, without spaces. Throws SyntaxError. */
export function* readPart(json: Buffer, from: number, shape: Shape): Steps<PartRead> {
  const reader = new PartReader(json, from);
  const value = yield* reader.read(shape);
  return { value, isCutShort: reader.isCutShort };
}

class PartReader {
  readonly #json: Buffer;
  #at: number;
  #pausedAt: number;
  #room = MAX_READ_BYTES;
  isCutShort = false;

  constructor(json: Buffer, from: number) {
    this.#json = json;
    this.#at = from;
    this.#pausedAt = from;
  }

  *read(shape: Shape): Steps<unknown> {
    const opening = this.#json[this.#at];
    if (opening === OPEN_LIST && (typeof shape === 'object' || shape === 'controller'))
      return yield* this.#items(shape);
    if (opening === OPEN_OBJECT && typeof shape === 'object') return yield* this.#fields(shape);
    return yield* this.#leaf(shape);
  }

  *#items(shape: Fields | 'controller'): Steps<unknown[]> {
    const items: unknown[] = [];
    this.#at += 1;
    while (this.#json[this.#at] !== CLOSE_LIST) {
      const item = yield* this.read(shape);
      if (item !== undefined && (shape === 'controller' || this.#hasRoomFor(0))) items.push(item);
      yield* this.#passComma(CLOSE_LIST);
    }
    this.#at += 1;
    return items;
  }

  *#fields(shape: Fields): Steps<unknown> {
    const fields: Record<string, unknown> = {};
    this.#at += 1;
    while (this.#json[this.#at] !== CLOSE_OBJECT) {
      const name = this.#name();
      const inner = Object.hasOwn(shape, name) ? shape[name] : shape['*'];
      if (inner === undefined) this.#at = yield* endOfValue(this.#json, this.#at);
      else fields[name] = yield* this.read(inner);
      yield* this.#passComma(CLOSE_OBJECT);
    }
    this.#at += 1;
    return fields;
  }

  /** Reads a field name. Names in Kubernetes objects have no escapes. */
  #name(): string {
    const end = this.#json.indexOf(QUOTE, this.#at + 1);
    if (this.#json[this.#at] !== QUOTE || end < 0) throw new SyntaxError(`no field at ${this.#at}`);
    const name = this.#json.toString('latin1', this.#at + 1, end);
    this.#at = end + '":'.length;
    return name;
  }

  *#passComma(closing: number): Steps<void> {
    const code = this.#json[this.#at];
    if (code === COMMA) this.#at += 1;
    else if (code !== closing) throw new SyntaxError(`no comma at ${this.#at}`);
    if (this.#at - this.#pausedAt < STEP_BYTES) return;
    this.#pausedAt = this.#at;
    yield;
  }

  *#leaf(shape: Shape): Steps<unknown> {
    const from = this.#at;
    this.#at = yield* endOfValue(this.#json, from);
    if (shape === 'present') return {};
    const bytes = this.#json.subarray(from, this.#at);
    return this.#isRead(bytes, shape) ? (JSON.parse(bytes.toString('utf8')) as unknown) : undefined;
  }

  #isRead(bytes: Buffer, shape: Shape): boolean {
    if (shape === 'controller') return bytes.length <= MAX_NAME_BYTES && bytes.includes(CONTROLLER);
    return shape === 'always' ? bytes.length <= MAX_NAME_BYTES : this.#hasRoomFor(bytes.length);
  }

  #hasRoomFor(length: number): boolean {
    this.#room -= Math.max(length, LEAST_VALUE_BYTES);
    if (this.#room < 0) this.isCutShort = true;
    return this.#room >= 0;
  }
}
