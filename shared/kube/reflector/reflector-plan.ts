import type { Backoff } from '#shared/runtime/repeat.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/*
 * A reflector lists, then watches from where the list ended, and never stops by itself:
 *
 *   list ──listed──▶ watch ──ended, broken, silent──▶ watch again from the last version
 *    ▲                 │
 *    └──expired, unreadable, due────┘
 *
 * `planAfter` says what comes after each ending. resourceVersion is opaque text throughout.
 */

export type Step = 'list' | 'watch';

/** How a list or a watch ended. */
export type Ending =
  | { readonly kind: 'listed' }
  /** The server closed the watch; `wasShort` = at once and without an event. */
  | { readonly kind: 'ended'; readonly wasShort: boolean }
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'silent'; readonly message: string }
  | { readonly kind: 'unreadable'; readonly message: string }
  | { readonly kind: 'refused'; readonly failure: Failure };

export interface EndedReading {
  readonly ending: Ending;
  /** What the reflector was doing at the end: a streamed list turns into a watch. */
  readonly during: Step;
  /** Whether a watch delivered any event. */
  readonly hasProgressed: boolean;
}

/** The next step, the number of failures in a row, and how long the server asked clients to wait. */
export interface Plan {
  readonly step: Step;
  readonly failures: number;
  readonly retryAfterMs: number;
}

const PATIENCE = 5;

/**
 * Full jitter, so that not all clients return to a restarted API server at once. A client-go reflector waits 30 to 60 s
 * at most.
 */
export const REFLECTOR_BACKOFF: Backoff = { initialMs: 800, maxMs: 30_000, factor: 2, jitter: 1 };

/**
 * For watches that must be back within seconds: of the pods that an agent evicts, and in the few replicas of the
 * webhook. A kubelet waits at most 7 s between attempts to renew its lease, so 5,000 agents retry as often as their
 * kubelets.
 */
export const PROMPT_BACKOFF: Backoff = { initialMs: 800, maxMs: 7000, factor: 2, jitter: 0.5 };

/**
 * The step after a list or a watch; `isListDue` asks for a fresh list at the next quiet moment. Only a watch that
 * delivers counts as recovery: one that breaks after every list must slow down, too.
 */
export function planAfter(reading: EndedReading, failures: number, isListDue: boolean): Plan {
  const { ending, during, hasProgressed } = reading;
  const failed = (hasProgressed ? 0 : failures) + 1;
  const step = isStubborn(ending, failed) ? 'list' : stepAfter(during, ending);
  if (isFailure(reading)) return { step, failures: failed, retryAfterMs: retryAfterMs(ending) };
  if (ending.kind === 'listed') return { step, failures, retryAfterMs: 0 };
  return { step: isListDue ? 'list' : step, failures: 0, retryAfterMs: 0 };
}

/**
 * Whether the reflector waits after this ending. A silent watch is no fault: the API server sends bookmarks only for
 * kinds of which it has seen a change since it started, and none for Events.
 */
export function isFailure({ ending, during }: Pick<EndedReading, 'ending' | 'during'>): boolean {
  if (ending.kind === 'silent' && during === 'watch') return false;
  return ending.kind === 'ended' ? ending.wasShort : ending.kind !== 'listed';
}

function stepAfter(during: Step, ending: Ending): Step {
  switch (ending.kind) {
    case 'listed':
      return 'watch';
    case 'unreadable':
      return 'list';
    case 'ended':
    case 'broken':
    case 'silent':
      return during;
    case 'refused':
      return mayPassLater(ending.failure) ? during : 'list';
  }
}

/** Otherwise (410, or a version that the server calls invalid) only a list helps. */
function mayPassLater({ kind }: Failure): boolean {
  return kind !== 'gone' && kind !== 'invalid' && kind !== 'notFound' && kind !== 'conflict';
}

/** A server that keeps failing may not accept the version: kube-apiserver answers 500 to one that it cannot parse. */
function isStubborn(ending: Ending, failures: number): boolean {
  return ending.kind === 'refused' && ending.failure.kind === 'serverError' && failures >= PATIENCE;
}

function retryAfterMs(ending: Ending): number {
  return ending.kind === 'refused' ? (ending.failure.retryAfterSeconds ?? 0) * 1_000 : 0;
}

/** The rate in bytes per second. Unused bytes are saved, up to `burst`. */
export interface BytePace {
  readonly perSecond: number;
  readonly burst: number;
}

/** Waits until this number of bytes may be read. */
export type SpendBytes = (bytes: number) => Promise<void>;

/** The rate limit of all streams of one reflector. The first bytes, such as a list of usual size, are read at once. */
export function createBytePace({ perSecond, burst }: BytePace, clock: Pick<Clock, 'monotonic' | 'sleep'>): SpendBytes {
  let credit = burst;
  let countedAt = clock.monotonic();

  return async (bytes) => {
    const now = clock.monotonic();
    credit = Math.min(burst, credit + ((now - countedAt) * perSecond) / 1000) - bytes;
    countedAt = now;
    if (credit < 0) await clock.sleep((-credit / perSecond) * 1000);
  };
}

/** The same pieces, each after the wait for its bytes; the sender is throttled meanwhile. */
export async function* paced(pieces: AsyncIterable<Buffer>, spend: SpendBytes): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    await spend(piece.length);
    yield piece;
  }
}
