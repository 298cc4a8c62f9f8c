/** The one place of the tests where time passes: lint forbids every other sleep and poll. */
import { systemClock } from '#shared/runtime/clock.ts';

const FIRST_PAUSE_MS = 5;
const MAX_PAUSE_MS = 100;
const ANSWER_WITHIN_MS = 120_000;

/** Repeats an expectation until it holds; fails with its own message when the time is over. */
export async function eventually<T>(expectation: () => T | Promise<T>, withinMs = 20_000): Promise<T> {
  const until = performance.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      return await expectation();
    } catch (error) {
      if (performance.now() > until) throw error;
      await systemClock.sleep(pauseMs);
    }
  }
}

/** Asks until the answer is as wanted; fails with the last answer after two minutes. */
export function untilAnswer<T>(ask: () => T | Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  return eventually(async () => {
    const answer = await ask();
    if (!isWanted(answer)) throw new Error(`still waiting, the last answer was ${JSON.stringify(answer)}`);
    return answer;
  }, ANSWER_WITHIN_MS);
}

/** Why nothing but the clock can end a wait. For a state or an event there is `eventually`. */
export type Why =
  /** Something must not happen meanwhile, or what happens is measured over this time. */
  | 'watched'
  /** A load, an attack or the life of an object lasts this long, or the pause between two requests of it. */
  | 'load'
  /** A double takes as long as what it stands for, or as the fault says. */
  | 'double'
  /** Another program needs the time, and nothing outside it shows when it is done. */
  | 'unseen';

/** Lets real time pass. `ms` is a named constant, or drawn from a seed; ends early when `signal` aborts. */
export async function letTimePass(ms: number, _why: Why, signal?: AbortSignal): Promise<void> {
  await systemClock.sleep(ms, signal);
}

/** Resolves when `signal` aborts, for a task that nothing else ends. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
