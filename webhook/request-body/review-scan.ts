import { Buffer } from 'node:buffer';

/** How much JSON a review may hold; what stands below managedFields does not count. */
export interface ScanLimits {
  /** Arrays and objects inside one another. */
  readonly depth: number;
  /** Arrays, objects, and the commas between what they hold; of the old object and of everything before it. */
  readonly values: number;
}

/** A review that is looked at while it arrives. */
export interface ReviewScan {
  readonly limits: ScanLimits;
  /** What lies before has been looked at. */
  position: number;
  depth: number;
  values: number;
  /** Of what stands before the old object. */
  valuesBefore: number;
  /** Of the string that began last; it is still open while its end lies before its start. */
  stringStart: number;
  stringEnd: number;
  /** The managedFields that are being passed over. */
  region: Region | undefined;
  /** The limit that was passed; nothing more is looked at then. */
  beyond: keyof ScanLimits | undefined;
}

interface Region {
  readonly start: number;
  depth: number;
  /** How many keys of `CLASS_PATH` lead to where we are. */
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

const OLD_OBJECT = Buffer.from('oldObject');
const MANAGED_FIELDS = Buffer.from('managedFields');
/** Where an entry of managedFields says that a client sent the class name. */
const CLASS_PATH = ['fieldsV1', 'f:spec', 'f:priorityClassName'].map((key) => Buffer.from(key));
/** Of the braces of a list: its first entry is at depth 1. */
const DEPTH_OF_ENTRY = 2;
const WITH_SENT_CLASS = Buffer.from('[{"fieldsV1":{"f:spec":{"f:priorityClassName":{}}}}]');
const WITH_OTHER_FIELDS = Buffer.from('[{}]');

export function startScan(limits: ScanLimits): ReviewScan {
  return {
    limits,
    position: 0,
    depth: 0,
    values: 0,
    valuesBefore: 0,
    stringStart: -1,
    stringEnd: -1,
    region: undefined,
    beyond: undefined,
  };
}

/**
 * Looks at the bytes of a review up to `end`, going on where it stopped before. It bounds depth and values before
 * `JSON.parse` sees them, and takes out what stands below managedFields: there a tenant can put any JSON, 10,000 levels
 * deep and in any encoding, and the API server sends it on as it is. All that is read of it is whether a client sent the
 * class name, so it is replaced by spaces and the shortest JSON that says the same. Nothing here checks the grammar:
 * what is left is parsed.
 */
export function advanceScan(scan: ReviewScan, bytes: Buffer, end: number): void {
  while (scan.position < end && scan.beyond === undefined) {
    if (scan.stringStart > scan.stringEnd) closeString(scan, bytes, end);
    else if (scan.region === undefined) passCounted(scan, bytes, end);
    else passRegion(scan, scan.region, bytes, end);
  }
}

/** A string that an earlier piece left open. */
function closeString(scan: ReviewScan, bytes: Buffer, end: number): void {
  const index = endOfString(bytes, scan.position, end);
  if (index < end) scan.stringEnd = index;
  scan.position = index < end ? index + 1 : index;
}

/** Up to the end, a string that stays open, the beginning of managedFields or a limit. The hot loop of every review. */
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
      values += 1;
      depth += 1;
      if (depth > limits.depth) break;
    } else if (isClosing(byte)) {
      depth -= 1;
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

/** From here on the old object is counted: once, for what was counted before is never more than the limit. */
function noteOldObject(scan: ReviewScan, bytes: Buffer, index: number, values: number): void {
  if (!isKey(scan, bytes, index, OLD_OBJECT)) return;
  if (values > scan.limits.values) scan.beyond = 'values';
  scan.valuesBefore = values;
}

/** From the opening bracket to the closing one. */
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

/** An object begins below a key: one more of the path, if all before it lead here. */
function followPath(scan: ReviewScan, region: Region, bytes: Buffer, index: number): void {
  const next = CLASS_PATH[region.path];
  if (next === undefined || bytes[index] !== OPEN_BRACE || region.depth !== DEPTH_OF_ENTRY + region.path) return;
  if (!isKey(scan, bytes, index, next)) return;
  region.path += 1;
  if (region.path === CLASS_PATH.length) region.isClassSent = true;
}

/** What is too short to be replaced holds nothing. */
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
    // What is escaped may come with the next piece, which is then begun behind it.
    if (byte === BACKSLASH) index += 1;
  }
  return index;
}
