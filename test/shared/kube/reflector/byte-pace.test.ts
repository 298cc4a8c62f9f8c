import { describe, expect, test } from 'vitest';
import { createBytePace } from '#shared/kube/reflector/reflector-plan.ts';

function scene() {
  const time = { now: 0, slept: [] as number[] };
  const clock = {
    monotonic: () => time.now,
    sleep: (ms: number) => {
      time.slept.push(ms);
      time.now += ms;
      return Promise.resolve();
    },
  };
  return { time, spend: createBytePace({ perSecond: 1000, burst: 3000 }, clock) };
}

describe('createBytePace', () => {
  test('the first bytes come at once, what follows at the pace', async () => {
    const { time, spend } = scene();
    for (const bytes of [2000, 1000, 500, 500]) await spend(bytes);
    expect(time.slept).toEqual([500, 500]);
  });

  test('what was not read is saved, up to the burst', async () => {
    const { time, spend } = scene();
    await spend(3000);
    time.now += 60_000;
    await spend(3000);
    expect(time.slept).toEqual([]);
    await spend(100);
    expect(time.slept).toEqual([100]);
  });
});
