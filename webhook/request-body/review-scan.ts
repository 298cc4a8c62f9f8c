import { Buffer } from 'node:buffer';

/** What the first bytes of an AdmissionReview contain. */
export interface ReviewStart {
  readonly uid: string;
  /** `undefined` if these bytes do not contain it, because the name before it is too long. */
  readonly namespace: string | undefined;
  readonly username: string | undefined;
}

const LOOKED_AT_BYTES = 4_096;

/** In the order in which the API server writes them (k8s.io/api/admission/v1). */
const UID = /^\{"kind":"AdmissionReview","apiVersion":"admission\.k8s\.io\/v1","request":\{"uid":"([^"\\]{1,128})"/;
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const KINDS = String.raw`"kind":\{[^}]*\},"resource":\{[^}]*\},(?:"subResource":${TEXT},)?"requestKind":\{[^}]*\},"requestResource":\{[^}]*\},(?:"requestSubResource":${TEXT},)?`;
const SENDER = new RegExp(
  String.raw`^,${KINDS}(?:"name":${TEXT},)?(?:"namespace":"([^"\\]*)",)?"operation":${TEXT},"userInfo":\{(?:"username":"([^"\\]*)")?`,
);

/** Reads the start of a body; `undefined` if it does not start as the API server writes a review. */
export function reviewStart(bytes: Buffer): ReviewStart | undefined {
  const text = bytes.toString('latin1', 0, LOOKED_AT_BYTES);
  const found = UID.exec(text);
  const [whole = '', uid] = found ?? [];
  if (uid === undefined) return undefined;
  const sender = SENDER.exec(text.slice(whole.length));
  return { uid, namespace: sender === null ? undefined : (sender[1] ?? ''), username: sender?.[2] };
}

/** How much JSON a review may contain, not counting managedFields. */
export interface ScanLimits {
  /** Nesting of arrays and objects. */
  readonly depth: number;
  /** Arrays, objects and commas, counted separately for the old object and for everything before it. */
  readonly values: number;
}

/** The state of scanning a review while it arrives. */
export interface ReviewScan {
  readonly limits: ScanLimits;
  /** Keys of lists that are emptied. */
  readonly unread: readonly Buffer[];
  /** Everything before this has been scanned. */
  position: number;
  depth: number;
  values: number;
  /** The values before the old object. */
  valuesBefore: number;
  /** Position of the latest string; it is open while its end is before its start. */
  stringStart: number;
  stringEnd: number;
  /** The managedFields that are being skipped. */
  region: Region | undefined;
  /** Start of the contents of the list that is being emptied; -1 outside such a list. */
  listStart: number;
  /** The depth around that list; unbalanced brackets make it negative. */
  listDepth: number;
  /** The limit that was exceeded; scanning stops then. */
  beyond: keyof ScanLimits | undefined;
}

interface Region {
  readonly start: number;
  depth: number;
  /** How many keys of `CLASS_PATH` lead to the current position. */
  path: number;
  isClassSent: boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Lists in a pod that no decision reads and that cost most of the parsing time. Short ones are cheaper to parse than to
 * empty. As with managedFields, the API server wrote them, so their grammar need not be checked.
 */
export const UNREAD_IN_PODS: readonly Buffer[] = [Buffer.from('env')];

const OLD_OBJECT = Buffer.from('oldObject');
const MANAGED_FIELDS = Buffer.from('managedFields');
/** The place where an entry of managedFields says that a client sent the class name. */
const CLASS_PATH = ['fieldsV1', 'f:spec', 'f:priorityClassName'].map((key) => Buffer.from(key));
/** Depth of the braces of a list: its first entry is at depth 1. */
const DEPTH_OF_ENTRY = 2;
const WITH_SENT_CLASS = Buffer.from('[{"fieldsV1":{"f:spec":{"f:priorityClassName":{}}}}]');
const WITH_OTHER_FIELDS = Buffer.from('[{}]');

const NO_KEYS: readonly Buffer[] = [];

export function startScan(limits: ScanLimits, unread = NO_KEYS): ReviewScan {
  return {
    limits,
    unread,
    position: 0,
    depth: 0,
    values: 0,
    valuesBefore: 0,
    stringStart: -1,
    stringEnd: -1,
    region: undefined,
    listStart: -1,
    listDepth: 0,
    beyond: undefined,
  };
}

/**
 * Scans the bytes of a review up to `end`, continuing where it stopped. It bounds depth and values before `JSON.parse`
 * runs, and removes managedFields: a tenant can put any JSON there, 10,000 levels deep and in any encoding, and the API
 * server forwards it unchanged. We only need to know whether a client sent the class name, so managedFields is replaced
 * by the shortest JSON that says so, padded with spaces. Unread lists are emptied. The scan does not check the grammar: the
 * rest is parsed.
 */
export function advanceScan(scan: ReviewScan, bytes: Buffer, end: number): void {
  while (scan.position < end && scan.beyond === undefined) {
    if (scan.stringStart > scan.stringEnd) closeString(scan, bytes, end);
    else if (scan.region === undefined) passCounted(scan, bytes, end);
    else passRegion(scan, scan.region, bytes, end);
  }
}

/** Skips a string that an earlier chunk left open. */
function closeString(scan: ReviewScan, bytes: Buffer, end: number): void {
  const index = endOfString(bytes, scan.position, end);
  if (index < end) scan.stringEnd = index;
  scan.position = index < end ? index + 1 : index;
}

/** Scans up to the end, an open string, the start of managedFields or a limit. The hot loop of every review. */
function passCounted(scan: ReviewScan, bytes: Buffer, end: number): void {
  const { limits } = scan;
  let { position: index, depth, values } = scan;
  for (; index < end; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = passString(scan, bytes, index, end);
      if (index >= end) break;
    } else if (byte === COMMA) {
      values += 1;
    } else if (isOpening(byte)) {
      if (beginsRegion(scan, bytes, index)) break;
      noteOldObject(scan, bytes, index, values);
      noteUnreadList(scan, bytes, index, depth);
      values += 1;
      depth += 1;
      if (depth > limits.depth) break;
    } else if (isClosing(byte)) {
      depth -= 1;
      endUnreadList(scan, bytes, index, depth);
    }
  }
  scan.position = index;
  scan.depth = depth;
  scan.values = values;
  scan.beyond ??= limitPassed(scan);
}

function isOpening(byte: number | undefined): boolean {
  return byte === OPEN_BRACE || byte === OPEN_BRACKET;
}

function isClosing(byte: number | undefined): boolean {
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}

function limitPassed({ depth, values, valuesBefore, limits }: ReviewScan): keyof ScanLimits | undefined {
  if (depth > limits.depth) return 'depth';
  return values - valuesBefore > limits.values ? 'values' : undefined;
}

/** The index of the closing quote, or one not below `end` where the string stays open. */
function passString(scan: ReviewScan, bytes: Buffer, start: number, end: number): number {
  const index = endOfString(bytes, start + 1, end);
  scan.stringStart = start;
  if (index < end) scan.stringEnd = index;
  return index;
}

function beginsRegion(scan: ReviewScan, bytes: Buffer, index: number): boolean {
  if (bytes[index] !== OPEN_BRACKET || !isKey(scan, bytes, index, MANAGED_FIELDS)) return false;
  scan.region = { start: index, depth: 0, path: 0, isClassSent: false };
  return true;
}

/** Starts counting the values of the old object. */
function noteOldObject(scan: ReviewScan, bytes: Buffer, index: number, values: number): void {
  if (!isKey(scan, bytes, index, OLD_OBJECT)) return;
  if (values > scan.limits.values) scan.beyond = 'values';
  scan.valuesBefore = values;
}

/** Records the start of a list to empty; its values are counted nevertheless. */
function noteUnreadList(scan: ReviewScan, bytes: Buffer, index: number, depth: number): void {
  if (bytes[index] !== OPEN_BRACKET || scan.listStart >= 0) return;
  // No callback: a closure would cost an allocation for every bracket.
  for (const key of scan.unread) {
    if (!isKey(scan, bytes, index, key)) continue;
    scan.listStart = index + 1;
    scan.listDepth = depth;
  }
}

/** Empties the list if it ends here. */
function endUnreadList(scan: ReviewScan, bytes: Buffer, index: number, depth: number): void {
  if (depth !== scan.listDepth || scan.listStart < 0) return;
  bytes.fill(SPACE, scan.listStart, index);
  scan.listStart = -1;
}

/** Skips from the opening bracket to the closing one. */
function passRegion(scan: ReviewScan, region: Region, bytes: Buffer, end: number): void {
  let index = scan.position;
  for (; index < end; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) {
      index = passString(scan, bytes, index, end);
      if (index >= end) break;
    } else if (isOpening(byte)) {
      if (!region.isClassSent) followPath(scan, region, bytes, index);
      region.depth += 1;
    } else if (isClosing(byte)) {
      region.depth -= 1;
      region.path = Math.max(0, Math.min(region.path, region.depth - DEPTH_OF_ENTRY));
      if (region.depth === 0) break;
    }
  }
  scan.position = index;
  if (index >= end) return;
  scan.position += 1;
  replaceRegion(bytes, region, scan.position);
  scan.region = undefined;
}

/** An object starts below a key: extends the path if the key is the next one in it. */
function followPath(scan: ReviewScan, region: Region, bytes: Buffer, index: number): void {
  const next = CLASS_PATH[region.path];
  if (next === undefined || bytes[index] !== OPEN_BRACE || region.depth !== DEPTH_OF_ENTRY + region.path) return;
  if (!isKey(scan, bytes, index, next)) return;
  region.path += 1;
  if (region.path === CLASS_PATH.length) region.isClassSent = true;
}

/** A region that is too short to be replaced is empty. */
function replaceRegion(bytes: Buffer, { start, isClassSent }: Region, end: number): void {
  const replacement = isClassSent ? WITH_SENT_CLASS : WITH_OTHER_FIELDS;
  if (end - start < replacement.length) return;
  bytes.fill(SPACE, start, end);
  replacement.copy(bytes, start);
}

/** Whether the array or object at `index` is the value of a key, written without white space as the API server does. */
function isKey(scan: ReviewScan, bytes: Buffer, index: number, key: Buffer): boolean {
  const { stringStart, stringEnd } = scan;
  if (stringEnd !== index - 2 || bytes[index - 1] !== COLON) return false;
  return stringEnd - stringStart - 1 === key.length && key.equals(bytes.subarray(stringStart + 1, stringEnd));
}

/** The index of the closing quote, or one not below `end`. A loop: calling `indexOf` costs more than it saves. */
function endOfString(bytes: Buffer, from: number, end: number): number {
  let index = from;
  for (; index < end; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) break;
    // The escaped character may be in the next chunk; the scan then starts after it.
    if (byte === BACKSLASH) index += 1;
  }
  return index;
}
