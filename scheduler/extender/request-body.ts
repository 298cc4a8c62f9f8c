import type { Steps } from '#shared/domain/base/steps.ts';
import { type Decoded, parseJson, isRecord } from '#shared/kube/decode/wire-object.ts';

/** The body of a request of kube-scheduler, with its pod parsed. */
interface RequestBody {
  /** The raw pod, or the requested part of a very large one. `undefined` if the body starts with another field. */
  readonly pod: unknown;
  readonly isPodLarge: boolean;
  /** Some of that part was not read: the pod's identity is known, but not all of its requirements. */
  readonly isPodCutShort: boolean;
  /**
   * The text of the other fields, from the comma after the pod; the whole text if the body starts with another field.
   */
  readonly others: string;
}

/** Ordinary pods have a few KiB. A pod of this size is parsed and decoded in a few milliseconds. */
const MAX_POD_BYTES = 256 * 1024;
/** `k8s.io/kube-scheduler/extender/v1` types.go puts the pod first in both kinds of request. */
const BEFORE_POD = '{"Pod":';
const COMMA = 0x2c;

const NAMES = {
  namespace: 'always',
  name: 'always',
  uid: 'always',
  ownerReferences: 'controller',
} as const satisfies Shape;
const REQUESTS = { requests: 'whole' } as const satisfies Shape;
const STATUS = { nominatedNodeName: 'always' } as const satisfies Shape;
const AMOUNTS = { overhead: 'whole', resources: REQUESTS } as const satisfies Shape;
const IMPORTANCE = { priority: 'always', priorityClassName: 'always', preemptionPolicy: 'always' } as const;

/** The fields that matter for set-aside room and avoided nodes. */
export const SIZED_POD: Shape = {
  metadata: NAMES,
  spec: {
    ...IMPORTANCE,
    ...AMOUNTS,
    containers: { resources: REQUESTS },
    initContainers: { resources: REQUESTS, restartPolicy: 'whole' },
  },
  status: STATUS,
};

/** The fields that matter for a preemption. */
export const PREEMPTING_POD: Shape = {
  metadata: { ...NAMES, labels: 'whole' },
  spec: {
    ...IMPORTANCE,
    ...AMOUNTS,
    containers: { resources: REQUESTS, ports: 'whole' },
    initContainers: { resources: REQUESTS, ports: 'whole', restartPolicy: 'whole' },
    hostNetwork: 'always',
    nodeName: 'always',
    nodeSelector: 'whole',
    tolerations: 'whole',
    affinity: 'whole',
    topologySpreadConstraints: 'whole',
    volumes: { name: 'whole', '*': 'present' },
    resourceClaims: { name: 'whole' },
  },
  status: STATUS,
};

/**
 * Parses the pod of a request and leaves the rest as text. A tenant decides how large its pod is: the largest one that
 * etcd stores has 8.6 MiB of JSON. For a pod above 256 KiB, only the fields of the given shape are read, in steps.
 */
export function* readRequestBody(bytes: Buffer, part: Shape): Steps<Decoded<RequestBody>> {
  const from = BEFORE_POD.length;
  const isUsual = bytes.toString('latin1', 0, from) === BEFORE_POD;
  const end = isUsual ? yield* endOfValue(bytes, from) : 0;
  if (end === 0 || bytes[end] !== COMMA) return readWhole(undefined, bytes.toString('utf8'));
  const others = bytes.toString('utf8', end);
  if (end - from > MAX_POD_BYTES) return yield* readLargePod(bytes, part, others);
  const pod = parseJson(bytes.toString('utf8', from, end));
  return pod.ok ? readWhole(pod.value, others) : pod;
}

function readWhole(pod: unknown, others: string): Decoded<RequestBody> {
  return { ok: true, value: { pod, isPodLarge: false, isPodCutShort: false, others } };
}

/** All fields of a request. */
export function parseFields({ pod, others }: RequestBody): Decoded<unknown> {
  return others.startsWith(',') ? withPod(parseJson(`{${others.slice(1)}`), pod) : parseJson(others);
}

function withPod(parsed: Decoded<unknown>, Pod: unknown): Decoded<unknown> {
  return parsed.ok && isRecord(parsed.value) ? { ok: true, value: { ...parsed.value, Pod } } : parsed;
}

function* readLargePod(bytes: Buffer, part: Shape, others: string): Steps<Decoded<RequestBody>> {
  try {
    const { value: pod, isCutShort } = yield* readPart(bytes, BEFORE_POD.length, part);
    return { ok: true, value: { pod, isPodLarge: true, isPodCutShort: isCutShort, others } };
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, field: 'Pod', message: `not valid JSON: ${error.message}` };
    throw error;
  }
}

/**
 * Which parts of a value to read if it is too large to parse at once; other fields are skipped. A list is read item by
 * item. `whole`: the value as it is, while there is room. `always`: the value even if there is no room. `present`: only
 * whether the field is set. `controller`: only the owner reference that is the controller.
 */
type Shape = 'whole' | 'always' | 'present' | 'controller' | FieldShapes;

/** By name; `*` is any other field. */
interface FieldShapes {
  readonly [field: string]: Shape;
}

/** The parts of a value that were read. */
interface PartRead {
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
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** By character: how it changes the depth of lists and objects. */
const DEPTH_CHANGES = new Int8Array(256);
DEPTH_CHANGES[OPEN_LIST] = DEPTH_CHANGES[OPEN_OBJECT] = 1;
DEPTH_CHANGES[CLOSE_LIST] = DEPTH_CHANGES[CLOSE_OBJECT] = -1;

/** The position of a scan. */
interface ScanPosition {
  at: number;
  depth: number;
  isText: boolean;
}

/**
 * The index of the comma or bracket that follows a value, or the length of the bytes if there is none. `JSON.parse`
 * cannot pause, and blocks the event loop for 20 to 80 ms on the largest pod.
 */
function* endOfValue(json: Buffer, from: number): Steps<number> {
  const scan = { at: from, depth: 0, isText: false };
  while (!reachEnd(json, scan, scan.at + STEP_BYTES)) yield;
  return Math.min(scan.at, json.length);
}

/** Whether the value ends before `stop`. */
function reachEnd(json: Buffer, scan: ScanPosition, stop: number): boolean {
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
function* readPart(json: Buffer, from: number, shape: Shape): Steps<PartRead> {
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

  *#items(shape: FieldShapes | 'controller'): Steps<unknown[]> {
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

  *#fields(shape: FieldShapes): Steps<unknown> {
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
