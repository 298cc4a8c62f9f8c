import { expect, test } from 'vitest';
import { HALF, NOT_YET, TAKEN } from '#shared/domain/gang/messages.ts';
import { createLog } from '#shared/runtime/log.ts';
import { BACK_MS, GangPauses } from '#scheduler/queues/gang-pauses.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const GANG = 'shop/train';
const BACK = HALF({ gang: GANG, running: 1, min: 2, seconds: 60, others: '' });
const SOON_MS = { first: 500, most: 500 };
const PLAN_MS = { first: 1_000, most: 10_000 };

function stageOf() {
  const clock = manualClock();
  const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
  const pauses = new GangPauses({ clock, log });
  /** How many seconds the gang stands aside. */
  const secondsAside = async (): Promise<number> => {
    let seconds = 0;
    for (; pauses.whyNotNow(GANG) !== undefined; seconds += 1) await clock.advance(1_000);
    return seconds;
  };
  return { pauses, clock, secondsAside };
}

test('a gang that goes back again and again waits twice as long each time, up to ten minutes', async () => {
  const { pauses, clock, secondsAside } = stageOf();
  const waited: number[] = [];
  for (let time = 0; time < 6; time += 1) {
    pauses.pause(GANG, BACK, BACK_MS);
    waited.push(await secondsAside());
    // It starts, after some attempts, and goes back a minute later.
    pauses.pause(GANG, NOT_YET({}), SOON_MS);
    await secondsAside();
    pauses.tell(GANG, TAKEN({}), PLAN_MS);
    expect(await secondsAside()).toBe(1);
    pauses.end(GANG);
    expect(pauses.whyNotNow(GANG)).toBeUndefined();
    await clock.advance(60_000);
  }
  expect(waited).toEqual([60, 120, 240, 480, 600, 600]);
  await clock.advance(600_000);
  pauses.pause(GANG, BACK, BACK_MS);
  expect(await secondsAside()).toBe(60);
});
