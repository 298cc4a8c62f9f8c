import { randomSource } from '#test/fakes/random-source.ts';
import { gangLoop } from './gang-loop.ts';

const FOUR = { 'node-0': 4, 'node-1': 4, 'node-2': 4, 'node-3': 4 };

/** Gangs and single pods come for five minutes, run for a while and end; everything that can be killed is. */
export function changingLoop(seed: number) {
  const random = randomSource(seed);
  const loop = gangLoop({
    nodes: FOUR,
    fateOf: () => ({ isFatal: random.chance(0.04), failure: random.chance(0.03) ? 'timeout' : undefined }),
  });
  const gangs = new Map<string, { readonly size: number; partSince?: number | undefined; endsAt?: number }>();
  let longestPart = 0;

  function come(second: number): void {
    if (second % 15 === 0) {
      const [gang, size] = [`gang-${second}`, 2 + random.below(5)];
      gangs.set(gang, { size });
      loop.createGang(gang, size, random.chance(0.3) ? 2 : 1, { priority: random.below(2) });
    }
    if (random.chance(0.3)) loop.create({ cpu: 1 + random.below(2), priority: random.below(3) });
  }

  function follow(second: number): void {
    for (const [gang, known] of gangs) {
      const running = loop.runningOf(gang);
      known.partSince = running > 0 && running < known.size ? (known.partSince ?? second) : undefined;
      longestPart = Math.max(longestPart, second - (known.partSince ?? second));
      if (running === known.size) known.endsAt ??= second + 20;
    }
  }

  function end(second: number): void {
    const single = loop.pods().filter(({ gang, node }) => gang === undefined && node !== undefined);
    for (const { name } of single) if (random.chance(0.1)) loop.remove(name);
    for (const [ended, { endsAt = Infinity }] of gangs) {
      if (endsAt > second) continue;
      for (const { name, gang } of loop.pods()) if (gang === ended) loop.remove(name);
      gangs.delete(ended);
    }
  }

  return {
    loop,
    longestPart: () => longestPart,
    left: () => [...gangs.keys(), ...loop.pods().map(({ name }) => name)],
    second: async (second: number): Promise<void> => {
      if (second < 300) come(second);
      if (random.chance(0.03)) loop.restartScheduler();
      await loop.step();
      follow(second);
      end(second);
    },
  };
}
