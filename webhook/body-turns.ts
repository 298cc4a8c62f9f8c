import type { IncomingMessage } from 'node:http';
import { collectBody, createBodyAllowance, type Body, type BodyAllowance } from '#shared/http/read-body.ts';

/** What a review may take of the memory that all of them share, until it is answered. */
export interface BodyTurn {
  /** Whether it may take so many bytes more. */
  take(bytes: number): boolean;
  /** To be called once, when it has been answered. */
  end(): void;
}

export interface BodyTurnOptions {
  /** The largest body. */
  readonly maxBytes: number;
  /** How long a large body may wait for its turn, and how long it may then take to arrive. */
  readonly patienceMs: number;
  /** Shared by the small ones: what they hold while they arrive, and what their values may take until answered. */
  readonly togetherBytes?: number;
}

type Done = (body: Body, turn: BodyTurn) => void;

/** Calls back exactly once. */
export type CollectInTurn = (request: IncomingMessage, done: Done) => void;

/** Nearly every review is smaller: a pod has some 3 to 30 KB. */
const LARGE_BYTES = 128 * 1024;
const TOGETHER_BYTES = 32 * 1024 * 1024;
const LONGEST_LINE = 64;
/** Of a body that is announced to be too large: its beginning comes with the head, if ever. */
const BEGINNING_MS = 250;

/**
 * Reads bodies within the memory of the container. Small ones share an allowance. A large one, or one that does not say
 * how large it is, waits until no other large one is under way; meanwhile it stays with its sender.
 */
export function createBodyTurns({
  maxBytes,
  patienceMs,
  togetherBytes = TOGETHER_BYTES,
}: BodyTurnOptions): CollectInTurn {
  const together = createBodyAllowance(togetherBytes);
  const line = new Set<() => void>();
  /** Made when the first large body comes, and used for each. */
  let into: Buffer | undefined;
  let isLargeUnderWay = false;

  function nextLarge(): void {
    isLargeUnderWay = false;
    const [next] = line;
    next?.();
  }

  function collectSmall(request: IncomingMessage, done: Done): void {
    collectBody(request, { maxBytes, allowance: together }, (body) => done(body, shareOf(together)));
  }

  function collectLarge(request: IncomingMessage, done: Done): void {
    isLargeUnderWay = true;
    const tooSlow = setTimeout(() => request.destroy(), patienceMs);
    into ??= Buffer.allocUnsafeSlow(maxBytes);
    collectBody(request, { maxBytes, into }, (body) => {
      clearTimeout(tooSlow);
      done(body, { take: () => true, end: nextLarge });
    });
  }

  function waitInLine(request: IncomingMessage, done: Done): void {
    const leave = (): void => {
      line.delete(start);
      clearTimeout(tooLong);
    };
    const start = (): void => {
      leave();
      collectLarge(request, done);
    };
    const tooLong = setTimeout(() => {
      leave();
      done({ kind: 'overloaded' }, NOTHING_TAKEN);
    }, patienceMs);
    line.add(start);
  }

  function collectBeginning(request: IncomingMessage, done: Done): void {
    let isDone = false;
    const finish = (body: Body): void => {
      clearTimeout(tooSlow);
      if (!isDone) done(body, NOTHING_TAKEN);
      isDone = true;
    };
    const nothing: Body = { kind: 'tooLarge', limitBytes: maxBytes, beginning: Buffer.alloc(0) };
    const tooSlow = setTimeout(() => finish(nothing), BEGINNING_MS);
    collectBody(request, { maxBytes }, finish);
  }

  return (request, done) => {
    const announced = Number(request.headers['content-length'] ?? Number.NaN);
    if (announced > maxBytes) collectBeginning(request, done);
    else if (announced <= LARGE_BYTES) collectSmall(request, done);
    else if (!isLargeUnderWay) collectLarge(request, done);
    else if (line.size < LONGEST_LINE) waitInLine(request, done);
    else done({ kind: 'overloaded' }, NOTHING_TAKEN);
  };
}

const NOTHING_TAKEN: BodyTurn = { take: () => false, end: () => undefined };

function shareOf(allowance: BodyAllowance): BodyTurn {
  let taken = 0;
  return {
    take: (bytes) => {
      const isFree = allowance.take(bytes);
      if (isFree) taken += bytes;
      return isFree;
    },
    end: () => allowance.giveBack(taken),
  };
}
