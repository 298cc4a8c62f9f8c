import { describe, expect, test } from 'vitest';
import { expectNoBreach } from './expect-no-breach.ts';
import { hunt, slowed } from './hunt.ts';
import { lendRoom } from './lent-room.ts';
import { FIRST_SEED } from './seed.ts';
import { volume } from '#test/build/volume.ts';

/** Each part is a test of its own, so that its time limit says something; about forty seconds of one core each. */
const PARTS = 8;
const EPISODES = volume(25_000);
/** Share by which nodes may be short for longer: the last pod in spare room goes while another one leaks. */
const LONGER = 1.1;

describe('a node with the agent beside the kubelet and the kernel', () => {
  test.each(Array.from({ length: PARTS }, (_, part) => FIRST_SEED + part * EPISODES))(
    `${EPISODES} episodes from seed %i break no law, and leave the node no worse than with the kubelet alone`,
    (firstSeed) => expectNoBreach(firstSeed, EPISODES),
  );

  test.each([
    [120, 0.15, volume(3000)],
    [300, 0.04, volume(1500)],
    [1800, 0.008, volume(200)],
  ])('episodes of %i s break no law, growth times %d', async (seconds, growth, count) => {
    const { findings } = await hunt(FIRST_SEED, count, { focus: slowed(growth, seconds) });
    expect([...findings].map(([key, { seeds }]) => `${key}: ${seeds.join(' ')}`)).toEqual([]);
  });

  test.each([
    [120, 0.15, volume(1000)],
    [300, 0.04, volume(400)],
    [60, 0.5, volume(1000)],
  ])('episodes of %i s in which room is lent harm no other pod, growth times %d', async (seconds, growth, count) => {
    const { free, lent, breaches } = await lendRoom(FIRST_SEED, count, { growth, seconds });
    expect(breaches).toEqual([]);
    expect(lent.innocents).toBeLessThanOrEqual(free.innocents);
    expect(lent.kills).toBeLessThanOrEqual(free.kills);
    const unkept = await lendRoom(FIRST_SEED, count, { growth, seconds, hasBudgets: false });
    expect(unkept.lent.shortMs).toBeLessThanOrEqual(unkept.free.shortMs * LONGER);
  });
});
