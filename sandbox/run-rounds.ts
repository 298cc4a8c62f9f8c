import { type Clock, forwardAbort } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';

/** A kind of objects that is followed, as a reflector does. */
export interface Followed {
  readonly synced: Promise<void>;
  run(signal: AbortSignal): Promise<void>;
  onChange(listener: () => void): () => void;
}

export interface Rounds {
  /** What a round reads: the first round waits for all of them, every change leads to another round. */
  readonly reflectors: readonly Followed[];
  readonly round: () => Promise<void>;
  /** Changes come in bursts; a round waits this long for the rest of them. */
  readonly gatherMs: number;
  /** A round without a change repairs what a refused write left behind. */
  readonly longestPauseMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs rounds one after the other until the signal aborts. A round that fails is logged; never rejects. */
export async function runRounds(rounds: Rounds, signal: AbortSignal): Promise<void> {
  const { reflectors, clock } = rounds;
  let wake = new AbortController();
  for (const reflector of reflectors) reflector.onChange(() => wake.abort());
  const reflecting = Promise.all(reflectors.map((reflector) => reflector.run(signal)));
  await Promise.race([Promise.all(reflectors.map(({ synced }) => synced)), reflecting]);
  while (!signal.aborted) {
    // Created before the round, so that a change during it is not missed.
    wake = new AbortController();
    await runRound(rounds, signal);
    const unlink = forwardAbort(signal, wake);
    await clock.sleep(rounds.longestPauseMs, wake.signal);
    unlink();
    await clock.sleep(rounds.gatherMs, signal);
  }
  await reflecting;
}

async function runRound({ round, log }: Rounds, signal: AbortSignal): Promise<void> {
  try {
    await round();
  } catch (error) {
    if (!signal.aborted) log.error({ err: error }, 'Round failed');
  }
}
