import { afterAll, expect, test } from 'vitest';
import { endRuns, playOnce } from './sandbox-runs.ts';

const TIMEOUT_MS = 180_000;

afterAll(endRuns);

test(
  'npm start -- --once refuses one pod, changes one preemption, evicts the hog and spares the services',
  { timeout: TIMEOUT_MS },
  async () => {
    const { exitCode, result } = await playOnce('--seed', '5');
    expect(exitCode).toBe(0);
    expect(result.refused).toEqual([
      {
        pod: expect.stringMatching(/^team-[ab]\//) as unknown,
        reason: expect.stringMatching(/plimsoll\.dev" denied the request: .*quota `critical`/) as unknown,
      },
    ]);
    expect(result.spared).toEqual([expect.stringMatching(/^team-[ab]\//)]);
    expect(result.preempted).toEqual([
      {
        pod: expect.stringMatching(/^team-[ab]\//) as unknown,
        madeRoomFor: expect.stringMatching(/^team-[ab]\//) as unknown,
        because: `pod ${result.spared[0] ?? ''} opted out of preemption`,
      },
    ]);
    expect(result.preempted[0]?.pod).not.toBe(result.spared[0]);
    expect(result.evicted).toEqual([
      {
        pod: expect.stringMatching(/^team-[ab]\//) as unknown,
        because: expect.stringMatching(/^The node was low on resource: memory\. /) as unknown,
      },
    ]);
    expect(result.survived).toHaveLength(3);
    expect(result.secondsToEvict).toBeTypeOf('number');
  },
);
