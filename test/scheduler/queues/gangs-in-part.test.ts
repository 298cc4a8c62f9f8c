import { describe, expect, test } from 'vitest';
import { gangLoop, START_MS, TIMEOUT_MS } from './gang-loop.ts';

const IN = { gates: [], admittedTo: 'of-shop', admittedAt: START_MS / 1_000 } as const;
const ON = (node: string) => ({ ...IN, node, phase: 'Running' });
const AS = (name: string, min: number) => ({ admittedAs: { name, min } });

/** A gang of four of which a node is lost whose room a higher pod has; for how long it runs in part, at most. */
async function secondsInPart(settings: Omit<Parameters<typeof gangLoop>[0], 'nodes'>) {
  const loop = gangLoop({ nodes: { 'node-0': 3, 'node-1': 1 }, ...settings });
  for (let index = 0; index < 3; index += 1)
    loop.create({ gang: 'train', size: 4, cpu: 1, ...ON('node-0'), ...AS('train', 4) });
  loop.create({ gang: 'train', size: 4, cpu: 1, ...ON('node-1'), ...AS('train', 4) });
  await loop.step();
  loop.loseNode('node-1');
  let [part, longest] = [0, 0];
  for (let second = 0; second < 150; second += 1) {
    await loop.step();
    const running = loop.runningOf('train');
    part = running > 0 && running < 4 ? part + 1 : 0;
    longest = Math.max(longest, part);
  }
  return { longest, loop };
}

describe('a gang of which a node is lost has its room for a minute at most', () => {
  test.each(['before', 'after'])('though its leader is killed %s any write takes effect', async (when) => {
    const failure = when === 'before' ? ('timeout' as const) : undefined;
    const found: number[] = [];
    for (let [fatal, last] = [1, Infinity]; fatal <= last; fatal += 1) {
      const { longest, loop } = await secondsInPart({
        fateOf: (write) => (write === fatal ? { isFatal: true, failure } : {}),
      });
      last = Math.min(loop.writes(), 20);
      found.push(longest);
      expect([fatal, loop.runningOf('train'), loop.pods().length]).toEqual([fatal, 0, 4]);
    }
    expect(Math.max(...found)).toBeLessThanOrEqual(TIMEOUT_MS / 1_000);
    expect(found.length).toBeGreaterThan(2);
  });
});
