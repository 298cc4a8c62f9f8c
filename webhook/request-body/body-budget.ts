import type { IncomingMessage } from 'node:http';
import { crc32 } from 'node:zlib';
import { keepReading } from '#shared/http/connections.ts';
import { createFairShares, type TakenShare, createSharedTimeout, createFairQueue, holdersOf } from './fair-queue.ts';
import {
  reviewStart,
  type ReviewStart,
  advanceScan,
  startScan,
  type ReviewScan,
  type ScanLimits,
} from './review-scan.ts';

/** Why a body was not read completely. */
export type Unread = 'tooLarge' | 'tooMany' | 'tooSlow' | NonNullable<ReviewScan['beyond']>;

export type ReviewBody =
  | WholeBody
  | { readonly kind: 'unread'; readonly why: Unread; readonly start: ReviewStart | undefined }
  /** The client disconnected before the body was complete. */
  | { readonly kind: 'gone' };

/** A body without the parts that are skipped (`advanceScan`). */
interface WholeBody {
  readonly kind: 'whole';
  /** Valid until the callback returns. */
  readonly bytes: Buffer;
  readonly values: number;
  /** The CRC-32 of the original body. */
  readonly fingerprint: number;
}

/** Limits for reading. */
export interface BodyBounds {
  readonly maxBytes: number;
  readonly limits: ScanLimits;
}

export interface BodyBudget extends BodyBounds {
  /** From the first chunk of a body to the last, including waiting. */
  readonly patienceMs: number;
}

type OnBody = (body: ReviewBody) => void;

/** Calls back exactly once. Lists with these keys are emptied. */
export type ReadBody = (request: IncomingMessage, done: OnBody, unread?: readonly Buffer[]) => void;

/**
 * Nearly every review is smaller, and a connection carries one at a time: such bodies are read at once, for any sender.
 */
const SMALL_BYTES = 16 * 1024;
/** Larger bodies are read one at a time, into one buffer. */
const MEDIUM_BYTES = 128 * 1024;
/** Memory that bodies between the two sizes share. */
const TOGETHER_BYTES = 16 * 1024 * 1024;
const MAX_WAITING = 64;
/** Up to this much of a refused body is read and dropped to keep the connection, because a new one costs more. */
const MAX_DROPPED_BYTES = 1024 * 1024;

/** A request that is being read. */
interface ReadingRequest {
  readonly request: IncomingMessage;
  readonly body: IncomingBody;
  readonly done: OnBody;
  readonly unread: readonly Buffer[];
  /** The first chunk, once it has arrived. */
  first: Buffer | undefined;
  /** The memory lease that the request holds until it is done. */
  share: TakenShare | undefined;
  stopWaiting: () => void;
  isOver: boolean;
}

/**
 * Reads bodies within the container's memory. Small bodies are read at once. Medium bodies share a budget; large
 * bodies, and bodies of unknown size, wait in a queue, unread. No namespace and no user can take the whole budget or
 * queue. A body that is not read is reported with its first bytes, so that it can still be answered as a review.
 */
export function createBodyReader({ maxBytes, limits, patienceMs }: BodyBudget): ReadBody {
  const together = createFairShares(TOGETHER_BYTES);
  const turns = createFairQueue(MAX_WAITING);
  const deadline = createSharedTimeout(patienceMs);
  /** Allocated for the first large body and reused. */
  let buffer: Buffer | undefined;

  /** The first chunk identifies the sender. */
  function sort(reading: ReadingRequest, first: Buffer): void {
    const { announcedBytes, receivedBytes } = reading.body;
    reading.first = first;
    if (receivedBytes < announcedBytes) reading.stopWaiting = deadline.add(() => refuse(reading, 'tooSlow'));
    if (announcedBytes > maxBytes) refuse(reading, beyondIn(first, limits) ?? 'tooLarge');
    else if (announcedBytes <= SMALL_BYTES) keep(reading, limits, first);
    else if (announcedBytes <= MEDIUM_BYTES) keepMedium(reading, first);
    else enqueue(reading, first);
  }

  function keepMedium(reading: ReadingRequest, first: Buffer): void {
    reading.share = together.take(holdersOf(startOf(reading) ?? UNKNOWN), reading.body.announcedBytes);
    if (reading.share === undefined) refuse(reading, 'tooMany');
    else keep(reading, limits, first);
  }

  function enqueue(reading: ReadingRequest, first: Buffer): void {
    reading.body.pause();
    reading.share = turns.enter(holdersOf(startOf(reading) ?? UNKNOWN), (turn) => {
      reading.share = turn;
      buffer ??= Buffer.allocUnsafeSlow(maxBytes);
      fill(reading, buffer, limits).piece(first);
      reading.body.resume();
    });
    if (reading.share === undefined) refuse(reading, 'tooMany');
  }

  return (request, done, unread = []) => {
    const reading = begin(request, done, unread);
    const empty = (): void => wholeBody(reading, Buffer.alloc(0), limits);
    reading.body.into(sink(reading, (first) => sort(reading, first), empty));
  };
}

const UNKNOWN = { namespace: undefined, username: undefined };

function begin(request: IncomingMessage, done: OnBody, unread: readonly Buffer[]): ReadingRequest {
  return {
    request,
    body: incomingBody(request),
    done,
    unread,
    first: undefined,
    share: undefined,
    stopWaiting: () => undefined,
    isOver: false,
  };
}

function sink(reading: ReadingRequest, piece: BodySink['piece'], end: BodySink['end']): BodySink {
  return { piece, end, gone: () => finish(reading, { kind: 'gone' }) };
}

function startOf({ first }: ReadingRequest): ReviewStart | undefined {
  return first === undefined ? undefined : reviewStart(first);
}

/**
 * Keeps the chunks as they arrive: most bodies arrive in one or two. All available chunks are read before the first of
 * these bodies is decided, because alternating between reading and deciding evicts the code of both from the
 * processor's caches (docs/contributing/decisions/webhook-requests.md).
 */
function keep(reading: ReadingRequest, limits: ScanLimits, first: Buffer): void {
  const pieces = [first];
  const end = (): void => {
    reading.body.into(DROPPED);
    setImmediate(wholeBody, reading, pieces.length === 1 ? first : Buffer.concat(pieces), limits);
  };
  reading.body.into(sink(reading, (piece) => void pieces.push(piece), end));
}

/** Copies each chunk, frees it, and scans it. */
function fill(reading: ReadingRequest, buffer: Buffer, limits: ScanLimits): BodySink {
  const scan = startScan(limits, reading.unread);
  let fingerprint = 0;
  let size = 0;
  const piece = (bytes: Buffer): void => {
    if (size + bytes.length > buffer.length) {
      refuse(reading, 'tooLarge');
      return;
    }
    size += bytes.copy(buffer, size);
    fingerprint = crc32(bytes, fingerprint);
    if (bytes !== reading.first) freeChunk(bytes);
    advanceScan(scan, buffer, size);
    if (scan.beyond !== undefined) refuse(reading, scan.beyond);
  };
  const filling = sink(reading, piece, () => {
    finish(reading, { kind: 'whole', bytes: buffer.subarray(0, size), values: scan.values, fingerprint });
  });
  reading.body.into(filling);
  return filling;
}

function wholeBody(reading: ReadingRequest, bytes: Buffer, limits: ScanLimits): void {
  const fingerprint = crc32(bytes);
  const scan = startScan(limits, reading.unread);
  advanceScan(scan, bytes, bytes.length);
  if (scan.beyond === undefined) finish(reading, { kind: 'whole', bytes, values: scan.values, fingerprint });
  else refuse(reading, scan.beyond);
}

/** Excessive nesting shows in the first chunk, and is the more helpful error. */
function beyondIn(first: Buffer, limits: ScanLimits): ReviewScan['beyond'] {
  const scan = startScan(limits);
  advanceScan(scan, first, first.length);
  return scan.beyond;
}

function refuse(reading: ReadingRequest, why: Unread): void {
  finish(reading, { kind: 'unread', why, start: startOf(reading) });
}

function finish(reading: ReadingRequest, body: ReviewBody): void {
  if (reading.isOver) return;
  reading.isOver = true;
  reading.stopWaiting();
  reading.body.into(DROPPED);
  if (body.kind === 'unread') dropRest(reading);
  try {
    reading.done(body);
  } finally {
    reading.share?.end();
  }
}

/** The rest of a body of unknown length is not read: its connection is closed. */
function dropRest({ request, body }: ReadingRequest): void {
  const left = body.announcedBytes - body.receivedBytes;
  if (Number.isNaN(left) || left > MAX_DROPPED_BYTES) return;
  keepReading(request);
  body.resume();
}

/**
 * Frees the memory of a body chunk that was copied or dropped: until the next garbage collection, chunks would take
 * many times the size of the body. Does nothing for small chunks, which share their memory with others.
 */
function freeChunk({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}

/** Receives a body chunk by chunk. */
interface BodySink {
  piece(bytes: Buffer): void;
  end(): void;
  /** The client disconnected before the body was complete. */
  gone(): void;
}

/** Frees all chunks. */
const DROPPED: BodySink = { piece: freeChunk, end: () => undefined, gone: () => undefined };

/** Starts reading a request. */
function incomingBody(request: IncomingMessage): IncomingBody {
  const body = new IncomingBody(request);
  request.on('data', (bytes: Buffer) => body.receive(bytes));
  request.on('end', () => body.sink.end());
  // Emitted after every end and every error.
  request.on('close', () => body.sink.gone());
  // A request that was destroyed before the listeners were added emits nothing.
  if (request.destroyed) process.nextTick(() => body.sink.gone());
  return body;
}

/**
 * A body that is arriving; its sink can be replaced. A class: an object literal with a getter costs V8 a hidden class
 * for each request.
 */
class IncomingBody {
  /** From Content-Length; NaN if it is missing. */
  readonly announcedBytes: number;
  /** Bytes received so far. */
  receivedBytes = 0;
  sink: BodySink = DROPPED;
  readonly #request: IncomingMessage;

  constructor(request: IncomingMessage) {
    this.announcedBytes = Number(request.headers['content-length'] ?? Number.NaN);
    this.#request = request;
  }

  receive(bytes: Buffer): void {
    this.receivedBytes += bytes.length;
    this.sink.piece(bytes);
  }

  into(next: BodySink): void {
    this.sink = next;
  }

  /** Stops reading for now. */
  pause(): void {
    this.#request.pause();
  }

  resume(): void {
    this.#request.resume();
  }
}
