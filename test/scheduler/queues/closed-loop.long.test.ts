import { describe, expect, test } from 'vitest';
import { volume } from '#test/build/volume.ts';
import { closedLoop } from './closed-loop.ts';

const QUEUES = [
  { name: 'a', guaranteed: 8 },
  { name: 'b', guaranteed: 6 },
  { name: 'c', guaranteed: 0 },
];
const BUSY_STEPS = 300;
/** Longer than attempts are remembered, so that what was given up comes to its end. */
const QUIET_STEPS = 900;
const REST_STEPS = 100;
/** Nominations are written again every ten seconds; after a write that failed it takes ten more. */
const MAX_FORGOTTEN_SECONDS = 21;
const SEEDS = volume(240);
const TIMEOUT_MS = 600_000;

async function run(loop: ReturnType<typeof closedLoop>, steps: number): Promise<number> {
  for (let step = 0; step < steps; step += 1) await loop.step();
  return loop.evictions.length;
}

/** What a run breaks, each law by its name. */
async function breachesOf(loop: ReturnType<typeof closedLoop>): Promise<readonly string[]> {
  await run(loop, BUSY_STEPS);
  loop.quieten();
  const settled = await run(loop, QUIET_STEPS);
  const atRest = await run(loop, REST_STEPS);
  const guaranteedTo = (queue: string): number => QUEUES.find(({ name }) => name === queue)?.guaranteed ?? 0;
  const isHungry = ({ name, guaranteed }: (typeof QUEUES)[number]): boolean =>
    loop
      .pods()
      .some((pod) => pod.queue === name && pod.node === undefined && pod.cpu + loop.usedBy(name) <= guaranteed);
  const laws: readonly (readonly [broken: boolean, law: string])[] = [
    [
      loop.evictions.some(({ queue, left }) => left < guaranteedTo(queue)),
      'an eviction took a queue below its guarantee',
    ],
    [atRest > settled, 'evictions go on although nothing happens'],
    [
      loop.pods().some(({ gates = [], nominatedTo }) => gates.length > 0 && nominatedTo !== undefined),
      'a node stays set aside',
    ],
    [
      loop.longestForgotten() > MAX_FORGOTTEN_SECONDS,
      `a node is set aside ${loop.longestForgotten()} s without kube-scheduler's knowledge`,
    ],
    [loop.unbalanced() > 0, 'allocated and preempting do not add up to the total'],
    [QUEUES.some(isHungry), 'a pod within the guarantee of its queue gets no room'],
  ];
  return laws.filter(([broken]) => broken).map(([, law]) => law);
}

describe('a cluster whose pods come and go, with refused and lost requests and leaders that are killed', () => {
  test.each(['Guarantees', 'Shares'] as const)(
    `by %s, ${SEEDS} runs from seed 1 break no law and come to rest`,
    async (reclaimBy) => {
      const broken: string[] = [];
      let evictions = 0;
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const loop = closedLoop(seed, QUEUES, reclaimBy);
        broken.push(...(await breachesOf(loop)).map((law) => `seed ${seed}: ${law}`));
        evictions += loop.evictions.length;
      }
      expect(broken).toEqual([]);
      // Otherwise nothing has been shown.
      expect(evictions).toBeGreaterThan(SEEDS);
    },
    TIMEOUT_MS,
  );
});
