import { describe, expect, test } from 'vitest';
import { randomSource } from '#test/fakes/random-source.ts';
import { gangLoop, TIMEOUT_MS } from './gang-loop.ts';

const FOUR = { 'node-0': 4, 'node-1': 4, 'node-2': 4, 'node-3': 4 };
const MORE = { 'node-4': 4, 'node-5': 4, 'node-6': 4, 'node-7': 4 };
/** What it has at a time, of 32. */
const MAX_CPU = 8;
const NO_OWNER = { owners: [] } as const;
const NOWHERE = { nodeSelector: { zone: 'nowhere' } };

test('a pod of a gang that is deleted at any write of its start leaves no nomination, and the gang runs or goes back', async () => {
  let [last, fatal] = [Infinity, 0];
  while (fatal < last) {
    fatal += 1;
    const loop: ReturnType<typeof gangLoop> = gangLoop({
      nodes: FOUR,
      fateOf: (write, { path }) => {
        if (write !== fatal) return {};
        // Each second time one that was not asked for yet, if there is one.
        const own = /pods\/([^/]+)/.exec(path)?.[1] ?? '';
        const other = loop
          .pods()
          .findLast(({ name, gang, node }) => gang === 'train' && node === undefined && name !== own);
        loop.remove(fatal % 2 === 0 ? own : (other?.name ?? own));
        return {};
      },
    });
    loop.createGang('train', 8, 2);
    let [part, longest] = [0, 0];
    for (let second = 0; second < 90; second += 1) {
      await loop.step();
      if (second === 20 && loop.pods().length < 8) loop.create({ gang: 'train', size: 8, cpu: 2 });
      const running = loop.runningOf('train');
      part = running > 0 && running < 8 ? part + 1 : 0;
      longest = Math.max(longest, part);
    }
    last = Math.min(last, loop.writes());
    expect([fatal, loop.gatedNominations(), loop.broken, loop.runningOf('train')]).toEqual([fatal, [], [], 8]);
    expect(longest).toBeLessThanOrEqual(TIMEOUT_MS / 1_000);
  }
  expect(last).toBeGreaterThanOrEqual(16);
});

/** A tenant that creates, contradicts and deletes pods of its gangs as it likes, beside pods of another one. */
async function besides(seed: number) {
  const random = randomSource(seed);
  const loop = gangLoop({ nodes: { ...FOUR, ...MORE } });
  let made = 0;
  const hostile = () => loop.pods().filter(({ name }) => name.startsWith('evil'));
  const act = (): void => {
    for (let count = random.below(4); count > 0; count -= 1) {
      const pod = { name: `evil-${(made += 1)}`, cpu: random.pick([1, 1, 2, 4, 5]), priority: random.below(3) };
      const gang = { gang: random.pick(['evil', 'evil-too']), size: random.pick([1, 2, 2, 3, 3, 1_000, 1_000_000]) };
      const sum = hostile().reduce((total, { cpu }) => total + cpu, pod.cpu);
      if (sum > MAX_CPU) continue;
      loop.create({
        ...pod,
        ...gang,
        ...(random.chance(0.5) && NO_OWNER),
        ...(random.chance(0.1) && { spec: NOWHERE }),
      });
    }
    for (const { name } of hostile()) if (random.chance(0.1)) loop.remove(name);
  };
  for (let second = 0; second < 150; second += 1) {
    if (second === 100) loop.createGang('train', 4, 2);
    if (second >= 100 && second % 5 === 0) loop.create({ name: `single-${second}`, cpu: 1 });
    act();
    await loop.step();
  }
  return loop;
}

describe('a tenant with gangs of all kinds', () => {
  test.each([1, 2, 3, 4, 5, 6])(
    'keeps others from nothing that it does not request, and leaves nothing set aside (seed %i)',
    async (seed) => {
      const loop = await besides(seed);
      const others = loop.pods().filter(({ name, gang }) => name.startsWith('single') || gang === 'train');
      // Pods that contradict their gang have no node when it goes in.
      const broken = loop.broken.filter((each) => !each.startsWith('evil'));
      const lacking = others.filter(({ node }) => node === undefined);
      expect([broken, lacking.map(({ name }) => name)]).toEqual([[], []]);
      for (const { name, gang } of loop.pods()) if (gang?.startsWith('evil') === true) loop.remove(name);
      for (let second = 0; second < 5; second += 1) await loop.step();
      expect(loop.gatedNominations()).toEqual([]);
    },
  );
});
