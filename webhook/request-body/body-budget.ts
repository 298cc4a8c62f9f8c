import type { IncomingMessage } from 'node:http';
import { keepReading } from '#shared/http/linger.ts';
import { createFairShares, type Share } from './fair-shares.ts';
import { freeChunk } from './free-chunk.ts';
import { DROPPED, incomingBody, type BodySink, type IncomingBody } from './incoming-body.ts';
import { holdersOf } from './review-holders.ts';
import { advanceScan, startScan, type ReviewScan, type ScanLimits } from './review-scan.ts';
import { reviewStart, type ReviewStart } from './review-start.ts';
import { createSharedTimeout } from './shared-timeout.ts';
import { createFairQueue } from './fair-queue.ts';

/** Why a body was not read to its end. */
export type Unread = 'tooLarge' | 'tooMany' | 'tooSlow' | NonNullable<ReviewScan['beyond']>;

export type ReviewBody =
  /** The bytes are there until the callback returns. */
  | { readonly kind: 'whole'; readonly bytes: Buffer; readonly values: number }
  | { readonly kind: 'unread'; readonly why: Unread; readonly start: ReviewStart | undefined }
  /** The caller went away before it was complete. */
  | { readonly kind: 'gone' };

/** What is read at all. */
export interface BodyBounds {
  readonly maxBytes: number;
  readonly limits: ScanLimits;
}

export interface BodyBudget extends BodyBounds {
  /** From the first piece of a body until all of it is there, waiting included. */
  readonly patienceMs: number;
}

type Done = (body: ReviewBody) => void;

/** Calls back exactly once. */
export type ReadBody = (request: IncomingMessage, done: Done) => void;

/** Nearly every review is smaller, and each connection brings one at a time: read at once, whoever sends it. */
const SMALL_BYTES = 16 * 1024;
/** Larger ones than these come one at a time, into one buffer. */
const MEDIUM_BYTES = 128 * 1024;
/** Of those in between. */
const TOGETHER_BYTES = 16 * 1024 * 1024;
const LONGEST_LINE = 64;
/** Of a body that is not wanted so much is read, so that its connection can go on: a new one costs more. */
const MOST_DROPPED_BYTES = 1024 * 1024;

/** A request that is being read. */
interface Reading {
  readonly request: IncomingMessage;
  readonly body: IncomingBody;
  readonly done: Done;
  /** How it begins, once something came. */
  first: Buffer | undefined;
  /** What it holds until it has been dealt with. */
  share: Share | undefined;
  stopWaiting: () => void;
  isOver: boolean;
}

/**
 * Reads bodies within the memory of the container. Small ones are read at once. Medium ones share an allowance, large
 * ones and those that do not say how large they are take turns, and wait with their sender; of both no namespace and no
 * user gets all. What is not read is told by its first bytes, so that it can be answered all the same.
 */
export function createBodyReader({ maxBytes, limits, patienceMs }: BodyBudget): ReadBody {
  const together = createFairShares(TOGETHER_BYTES);
  const turns = createFairQueue(LONGEST_LINE);
  const deadline = createSharedTimeout(patienceMs);
  /** Made when the first large body comes, and used for each. */
  let buffer: Buffer | undefined;

  /** The first piece tells who sends it. */
  function sort(reading: Reading, first: Buffer): void {
    const { announcedBytes, receivedBytes } = reading.body;
    reading.first = first;
    if (receivedBytes < announcedBytes) reading.stopWaiting = deadline.add(() => refuse(reading, 'tooSlow'));
    if (announcedBytes > maxBytes) refuse(reading, beyondIn(first, limits) ?? 'tooLarge');
    else if (announcedBytes <= SMALL_BYTES) keep(reading, limits, first);
    else if (announcedBytes <= MEDIUM_BYTES) keepMedium(reading, first);
    else enqueue(reading, first);
  }

  function keepMedium(reading: Reading, first: Buffer): void {
    reading.share = together.take(holdersOf(startOf(reading) ?? UNKNOWN), reading.body.announcedBytes);
    if (reading.share === undefined) refuse(reading, 'tooMany');
    else keep(reading, limits, first);
  }

  function enqueue(reading: Reading, first: Buffer): void {
    reading.body.pause();
    reading.share = turns.enter(holdersOf(startOf(reading) ?? UNKNOWN), (turn) => {
      reading.share = turn;
      buffer ??= Buffer.allocUnsafeSlow(maxBytes);
      fill(reading, buffer, limits).piece(first);
      reading.body.resume();
    });
    if (reading.share === undefined) refuse(reading, 'tooMany');
  }

  return (request, done) => {
    const reading = begin(request, done);
    const empty = (): void => wholeBody(reading, Buffer.alloc(0), limits);
    reading.body.into(sink(reading, (first) => sort(reading, first), empty));
  };
}

const UNKNOWN = { namespace: undefined, username: undefined };

function begin(request: IncomingMessage, done: Done): Reading {
  return {
    request,
    body: incomingBody(request, DROPPED),
    done,
    first: undefined,
    share: undefined,
    stopWaiting: () => undefined,
    isOver: false,
  };
}

function sink(reading: Reading, piece: BodySink['piece'], end: BodySink['end']): BodySink {
  return { piece, end, gone: () => finish(reading, { kind: 'gone' }) };
}

function startOf({ first }: Reading): ReviewStart | undefined {
  return first === undefined ? undefined : reviewStart(first);
}

/** Keeps the pieces as they come: most bodies come in one or two. */
function keep(reading: Reading, limits: ScanLimits, first: Buffer): void {
  const pieces = [first];
  const end = (): void => wholeBody(reading, pieces.length === 1 ? first : Buffer.concat(pieces), limits);
  reading.body.into(sink(reading, (piece) => void pieces.push(piece), end));
}

/** Copies each piece as it comes, frees it, and looks at it. */
function fill(reading: Reading, buffer: Buffer, limits: ScanLimits): BodySink {
  const scan = startScan(limits);
  let size = 0;
  const piece = (bytes: Buffer): void => {
    if (size + bytes.length > buffer.length) {
      refuse(reading, 'tooLarge');
      return;
    }
    size += bytes.copy(buffer, size);
    if (bytes !== reading.first) freeChunk(bytes);
    advanceScan(scan, buffer, size);
    if (scan.beyond !== undefined) refuse(reading, scan.beyond);
  };
  const filling = sink(reading, piece, () => {
    finish(reading, { kind: 'whole', bytes: buffer.subarray(0, size), values: scan.values });
  });
  reading.body.into(filling);
  return filling;
}

function wholeBody(reading: Reading, bytes: Buffer, limits: ScanLimits): void {
  const scan = startScan(limits);
  advanceScan(scan, bytes, bytes.length);
  if (scan.beyond === undefined) finish(reading, { kind: 'whole', bytes, values: scan.values });
  else refuse(reading, scan.beyond);
}

/** What is nested too deep is that from the beginning, and the better answer. */
function beyondIn(first: Buffer, limits: ScanLimits): ReviewScan['beyond'] {
  const scan = startScan(limits);
  advanceScan(scan, first, first.length);
  return scan.beyond;
}

function refuse(reading: Reading, why: Unread): void {
  finish(reading, { kind: 'unread', why, start: startOf(reading) });
}

function finish(reading: Reading, body: ReviewBody): void {
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

/** What is left of a body of unknown length is not read: its connection ends. */
function dropRest({ request, body }: Reading): void {
  if (!(body.announcedBytes - body.receivedBytes <= MOST_DROPPED_BYTES)) return;
  keepReading(request);
  body.resume();
}
