import { expect, test } from 'vitest';
import { runRounds } from '#sandbox/run-rounds.ts';
import { createLog } from '#shared/runtime/log.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });

/** Rounds over one thing that changes on request. */
function setUp(round: () => Promise<void>) {
  const clock = manualClock();
  const stopping = new AbortController();
  const sight = Promise.withResolvers<undefined>();
  const listeners: (() => void)[] = [];
  const reflector = {
    synced: sight.promise.then(() => undefined),
    onChange: (listener: () => void) => {
      listeners.push(listener);
      return () => undefined;
    },
    run: (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  };
  const ended = runRounds(
    { reflectors: [reflector], round, gatherMs: 10, longestPauseMs: 1_000, clock, log },
    stopping.signal,
  );
  const change = (): void => listeners.forEach((listener) => listener());
  const stop = (): Promise<void> => {
    stopping.abort();
    return ended;
  };
  return { clock, sync: () => sight.resolve(undefined), change, stop };
}

test('the first round waits for the first sight, the next for a change or for the longest pause', async () => {
  let rounds = 0;
  const { clock, sync, change, stop } = setUp(() => Promise.resolve(void (rounds += 1)));
  await clock.advance(5_000);
  expect(rounds).toBe(0);
  sync();
  await clock.advance(0);
  expect(rounds).toBe(1);
  change();
  change();
  await clock.advance(10);
  expect(rounds).toBe(2);
  await clock.advance(1_010);
  expect(rounds).toBe(3);
  await stop();
});

test('a change during a round leads to another', async () => {
  let rounds = 0;
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const { clock, sync, change, stop } = setUp(() => ((rounds += 1) === 1 ? promise : Promise.resolve()));
  sync();
  await clock.advance(0);
  change();
  resolve(undefined);
  await clock.advance(10);
  expect(rounds).toBe(2);
  await stop();
});

test('a round that fails does not end the others', async () => {
  let rounds = 0;
  const { clock, sync, stop } = setUp(() => Promise.reject(new Error(`round ${(rounds += 1)}`)));
  sync();
  await clock.advance(3_100);
  expect(rounds).toBe(4);
  await stop();
});

test('nothing is left running when it stops before the first sight', async () => {
  const { clock, stop } = setUp(() => Promise.resolve());
  await stop();
  expect(clock.sleepers).toBe(0);
});
