import { describe, expect, test } from 'vitest';
import { createLog } from '#shared/runtime/log.ts';
import { StartGangs } from '#scheduler/queues/start-gangs.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, queueFor, queueWorld } from '#test/shared/decide/queues/queue-world.ts';
import { changingLoop } from './gang-day.ts';
import { gangLoop, START_MS, TIMEOUT_MS } from './gang-loop.ts';

const FOUR = { 'node-0': 4, 'node-1': 4, 'node-2': 4, 'node-3': 4 };

const IN = { gates: [], admittedTo: 'of-shop', admittedAt: START_MS / 1_000 } as const;
const ON = (node: string) => ({ ...IN, node, phase: 'Running' });
const AS = (name: string, min: number) => ({ admittedAs: { name, min } });

async function run(loop: ReturnType<typeof gangLoop>, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) await loop.step();
}

describe('a gang', () => {
  test('starts whole on planned nodes, before equal pods that came later', async () => {
    const loop = gangLoop({ nodes: FOUR });
    loop.createGang('train', 8, 2);
    await loop.clock.advance(1_000);
    for (let index = 0; index < 24; index += 1) loop.create({ cpu: 1 });
    await run(loop, 3);
    expect([loop.runningOf('train'), loop.broken, loop.gatedNominations()]).toEqual([8, [], []]);
  });

  test('that is larger than what nodes have starts in no part, and lets others pass', async () => {
    const loop = gangLoop({ nodes: { ...FOUR, 'node-3': 3, 'node-4': 1 } });
    loop.createGang('train', 8, 2);
    await loop.clock.advance(1_000);
    for (let index = 0; index < 6; index += 1) loop.create({ cpu: 1 });
    await run(loop, 30);
    expect([loop.runningOf('train'), loop.broken]).toEqual([0, []]);
    expect(loop.pods().filter(({ gang, node }) => gang === undefined && node !== undefined)).toHaveLength(6);
  });

  test('is let in whole at once, though others change its pods meanwhile', async () => {
    let conflicts = 0;
    const isGateWrite = (path: string): boolean => /pods\/[^/]+$/.test(path);
    const loop = gangLoop({
      nodes: FOUR,
      fateOf: (_, { path }) => ({ failure: isGateWrite(path) && (conflicts += 1) <= 3 ? 'conflict' : undefined }),
    });
    loop.createGang('train', 8, 2);
    await loop.step();
    expect([loop.runningOf('train'), loop.broken, conflicts]).toEqual([8, [], 11]);
  });

  test('whose planned room is taken again and again starts soon after that ends', async () => {
    let isTaking = true;
    const loop: ReturnType<typeof gangLoop> = gangLoop({
      nodes: FOUR,
      fateOf: (_, { path }) => {
        const isFree = !loop.pods().some(({ name }) => name === 'thief');
        if (isTaking && isFree && path.endsWith('/status')) loop.create({ name: 'thief', cpu: 4, ...ON('node-0') });
        return {};
      },
    });
    loop.createGang('train', 8, 2);
    for (let second = 0; second < 150; second += 1) {
      await loop.step();
      loop.remove('thief');
    }
    isTaking = false;
    expect([loop.runningOf('train'), loop.gatedNominations()]).toEqual([0, []]);
    await run(loop, 12);
    expect([loop.runningOf('train'), loop.broken]).toEqual([8, []]);
  });

  test('that waits for its last pod holds nothing', async () => {
    const loop = gangLoop({ nodes: FOUR });
    for (let index = 0; index < 7; index += 1) loop.create({ gang: 'train', size: 8, cpu: 2 });
    for (let index = 0; index < 16; index += 1) loop.create({ cpu: 1 });
    await run(loop, 3);
    expect([loop.runningOf('train'), loop.pods().filter(({ node }) => node !== undefined).length]).toEqual([0, 16]);
  });
});

const nodesOfSingles = (loop: ReturnType<typeof gangLoop>) =>
  loop.pods().filter(({ gang, node }) => gang === undefined && node !== undefined).length;

describe('in a strict queue none waits behind a gang', () => {
  test('of which it is not known where its pods fit together', async () => {
    const loop = gangLoop({ nodes: FOUR, queue: { ordering: 'Strict' } });
    const containers = [{ name: 'main', ports: [{ containerPort: 80, hostPort: 80 }] }];
    loop.createGang('ports', 2, 1, { priority: 9, spec: { containers } });
    await run(loop, 30);
    for (let index = 0; index < 4; index += 1) loop.create({ cpu: 1 });
    await run(loop, 1);
    expect([nodesOfSingles(loop), loop.runningOf('ports')]).toEqual([4, 0]);
  });

  test('that the API server lets nobody set nodes aside for', async () => {
    const loop = gangLoop({
      nodes: FOUR,
      queue: { ordering: 'Strict' },
      fateOf: (_, { path }) => ({ failure: path.endsWith('/status') ? 'conflict' : undefined }),
    });
    loop.createGang('refused', 2, 1, { priority: 9 });
    await run(loop, 100);
    for (let index = 0; index < 4; index += 1) loop.create({ cpu: 1 });
    await run(loop, 1);
    expect([nodesOfSingles(loop), loop.runningOf('refused')]).toEqual([4, 0]);
  });

  test('of which pods are in and the rest is more than the queue may hold', async () => {
    const loop = gangLoop({ nodes: FOUR, queue: { ordering: 'Strict', max: { cpu: '6' } } });
    loop.create({ gang: 'grown', size: 8, cpu: 1, priority: 9, ...ON('node-0') });
    for (let index = 0; index < 7; index += 1) loop.create({ gang: 'grown', size: 8, cpu: 1, priority: 9 });
    for (let index = 0; index < 4; index += 1) loop.create({ cpu: 1 });
    await run(loop, 2);
    expect([nodesOfSingles(loop), loop.runningOf('grown')]).toEqual([4, 1]);
  });

  test.each([
    ['no node has room', { 'node-0': 4 }, {}],
    ['the queue has no room', FOUR, { max: { cpu: '4' } }],
  ])(
    'that stays half of one because pods went in alone, once it has been so for a minute: %s',
    async (_, nodes, limits) => {
      const loop = gangLoop({ nodes, queue: { ordering: 'Strict', ...limits } });
      for (let index = 0; index < 2; index += 1)
        loop.create({ gang: 'part', size: 4, cpu: 1, priority: 9, ...ON('node-0') });
      loop.create({ name: 'other', cpu: 1, ...ON('node-0') });
      for (let index = 0; index < 2; index += 1) loop.create({ gang: 'part', size: 4, cpu: 1, priority: 9 });
      loop.create({ name: 'behind', cpu: 1 });
      await run(loop, 50);
      expect(nodesOfSingles(loop)).toBe(1);
      await run(loop, 20);
      expect([nodesOfSingles(loop), loop.runningOf('part')]).toEqual([2, 2]);
    },
  );

  test('that went back and lets others go first', async () => {
    const loop = gangLoop({ nodes: { 'node-0': 2 }, queue: { ordering: 'Strict' } });
    loop.create({ gang: 'train', size: 2, cpu: 2, priority: 9, ...ON('node-0'), ...AS('train', 2) });
    loop.create({ gang: 'train', size: 2, cpu: 2, priority: 9 });
    await run(loop, TIMEOUT_MS / 1_000 + 5);
    expect(loop.runningOf('train')).toBe(0);
    loop.create({ cpu: 1 });
    await run(loop, 3);
    expect(nodesOfSingles(loop)).toBe(1);
  });
});

describe('killed at any write', () => {
  test.each(['before', 'after'])('%s it takes effect, a gang starts whole and leaves no nomination', async (when) => {
    let [last, fatal] = [Infinity, 0];
    while (fatal < last) {
      fatal += 1;
      const loop = gangLoop({
        nodes: FOUR,
        fateOf: (write) =>
          write === fatal ? { isFatal: true, failure: when === 'before' ? 'timeout' : undefined } : {},
      });
      loop.createGang('train', 8, 2);
      await run(loop, 15);
      last = Math.min(last, loop.writes());
      const found = [fatal, loop.runningOf('train'), loop.gatedNominations(), loop.broken, loop.pods().length];
      expect(found).toEqual([fatal, 8, [], [], 8]);
    }
    expect(last).toBeGreaterThanOrEqual(16);
  });
});

/** Two gangs of four on four nodes of two pods each; two pods of each gang have a node that the other one needs. */
function deadlock(): ReturnType<typeof gangLoop> {
  const loop = gangLoop({ nodes: { 'node-0': 2, 'node-1': 2 } });
  for (const [gang, node] of [
    ['left', 'node-0'],
    ['right', 'node-1'],
  ] as const) {
    for (let index = 0; index < 2; index += 1) loop.create({ gang, size: 4, cpu: 1, ...ON(node), ...AS(gang, 4) });
    for (let index = 0; index < 2; index += 1) loop.create({ gang, size: 4, cpu: 1, ...IN, ...AS(gang, 4) });
  }
  return loop;
}

describe('two half gangs', () => {
  test('block each other no longer than the timeout: both go back, and one after the other runs whole', async () => {
    const loop = deadlock();
    await run(loop, TIMEOUT_MS / 1_000 - 8);
    expect([loop.runningOf('left'), loop.runningOf('right')]).toEqual([2, 2]);
    await run(loop, 7);
    expect([loop.runningOf('left'), loop.runningOf('right'), loop.pods().length]).toEqual([0, 0, 8]);
    await run(loop, 70);
    const [first, second] = [loop.runningOf('left'), loop.runningOf('right')];
    expect([first, second].sort()).toEqual([0, 4]);
    const done = first === 4 ? 'left' : 'right';
    for (const { name, gang } of loop.pods()) if (gang === done) loop.remove(name);
    await run(loop, 15);
    expect([loop.runningOf(done === 'left' ? 'right' : 'left'), loop.broken]).toEqual([4, []]);
  });
});

describe('after an upgrade', () => {
  test('pods that were let in one by one and run below their minimum go on; the others come once they fit together', async () => {
    const loop = gangLoop({ nodes: { 'node-0': 4 } });
    for (let index = 0; index < 2; index += 1) loop.create({ gang: 'train', size: 4, cpu: 1, ...ON('node-0') });
    for (let index = 0; index < 2; index += 1) loop.create({ name: `other-${index}`, cpu: 1, ...ON('node-0') });
    for (let index = 0; index < 2; index += 1) loop.create({ gang: 'train', size: 4, cpu: 1 });
    await run(loop, TIMEOUT_MS / 500);
    expect(loop.runningOf('train')).toBe(2);
    for (let index = 0; index < 2; index += 1) loop.remove(`other-${index}`);
    await run(loop, 15);
    expect([loop.runningOf('train'), loop.broken]).toEqual([4, []]);
  });
});

describe('a gang of which a higher pod takes room', () => {
  test('goes back whole after the timeout and waits; its pods are created again, and none is lost', async () => {
    const loop = gangLoop({ nodes: FOUR });
    loop.createGang('train', 8, 2);
    await loop.step();
    expect(loop.runningOf('train')).toBe(8);
    for (const { name, node } of loop.pods()) if (node === 'node-3') loop.remove(name);
    loop.create({ cpu: 4, priority: 9, ...IN });
    for (let index = 0; index < 2; index += 1) loop.create({ gang: 'train', size: 8, cpu: 2 });
    loop.schedule();
    await run(loop, 50);
    expect(loop.runningOf('train')).toBe(6);
    await run(loop, 9);
    expect([loop.runningOf('train'), loop.pods().filter(({ gang }) => gang === 'train').length]).toEqual([0, 8]);
  });

  test('whose other pods have ended and do not come again goes on', async () => {
    const loop = gangLoop({ nodes: FOUR });
    loop.createGang('train', 8, 2);
    await loop.step();
    for (const { name, node } of loop.pods()) if (node === 'node-3') loop.remove(name);
    await run(loop, 90);
    expect(loop.runningOf('train')).toBe(6);
  });
});

test.each([0, 1])(
  'while leaders and kube-schedulers are killed and writes are lost (seed %i), no gang runs in part for longer than the timeout, and all run in the end',
  async (seed) => {
    const { loop, second, left, longestPart } = changingLoop(seed);
    for (let at = 0; at < 900; at += 1) await second(at);
    expect([loop.broken, left()]).toEqual([[], []]);
    expect(longestPart()).toBeLessThanOrEqual(TIMEOUT_MS / 1_000);
    expect(loop.terms()).toBeGreaterThan(2);
  },
);

test('where planning takes long, the gangs behind stand aside for a moment instead of holding up the leader', async () => {
  const world = queueWorld([queueFor('shop')]);
  for (const gang of ['a', 'b', 'c']) {
    const labels = { 'plimsoll.dev/gang': gang, 'plimsoll.dev/gang-size': '1' };
    world.see({ name: `${gang}-0`, gates: [GATE], labels });
  }
  let elapsedMs = 0;
  const clock = { now: () => 0, monotonic: () => elapsedMs, sleep: () => Promise.resolve() };
  const slow = (uid: string) => {
    elapsedMs += 60;
    return world.pods.get(uid);
  };
  const { client } = scriptedClient(() => ({ kind: 'forbidden', message: 'no' }));
  const starts = new StartGangs({
    client,
    clock,
    log: createLog({ component: 'scheduler', level: 'silent', format: 'json' }),
    pods: { get: slow },
    snapshot: world.snapshot,
    term: { isHeld: () => true },
    leading: new AbortController().signal,
    letIn: () => Promise.resolve(),
  });
  await starts.round(world.plan(), new AbortController().signal);
  await starts.settled();
  const why = ['a', 'b', 'c'].map((gang) => starts.whyNotNow(`shop/${gang}`)?.code);
  expect([why[0], why[2]]).toEqual(['GangNotNominated', 'GangNotPlannedYet']);
});
