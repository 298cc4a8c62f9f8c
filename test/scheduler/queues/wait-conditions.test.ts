import { expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createWaitConditions } from '#scheduler/queues/wait-conditions.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';
import { GATE, queueFor, queueWorld } from '#test/shared/decide/queues/queue-world.ts';

const TYPE = 'plimsoll.dev/WaitsInQueue';
const OK: Outcome<unknown> = { kind: 'ok', object: { metadata: { name: 'x' } }, warnings: [] };
const FULL = [queueFor('shop', { max: { cpu: 0 } })];

/** What a leader writes in one round; the answer is that of the API server. */
function leaderOf(world: ReturnType<typeof queueWorld>, answer: (path: string) => Outcome<unknown> = () => OK) {
  const { client, requests } = scriptedClient(({ path }) => answer(path));
  let now = 0;
  const clock = { ...systemClock, now: () => now };
  const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
  const term = { isHeld: () => true };
  const write = createWaitConditions({ client, clock, log, pods: world.pods, term }, () => undefined);
  return async (at: number): Promise<readonly unknown[]> => {
    now = at;
    await write(world.plan(false, 'Guarantees', { now }), new AbortController().signal);
    return requests.splice(0).map(({ path, body }) => [path.split('/').at(-2), conditionIn(body)]);
  };
}

function conditionIn(body: unknown): unknown {
  const { status } = body as { readonly status: { readonly conditions: readonly Record<string, unknown>[] } };
  const [{ $patch, reason, message } = {}] = status.conditions;
  return $patch ?? `${String(reason)}: ${String(message)}`;
}

test('a waiting pod says what it waits for, once while that stays so, and not any longer once it is let in', async () => {
  const world = queueWorld(FULL);
  world.see({ name: 'a', gates: [GATE] });
  const round = leaderOf(world);
  const said = [['a', 'AtMaximum: waits for 1 cpu: queue of-shop is at its maximum 0']];
  expect([await round(0), await round(1_000), await round(60_000), await round(3_600_000)]).toEqual([said, [], [], []]);
  world.see({
    name: 'a',
    admittedTo: 'of-shop',
    node: 'node-1',
    conditions: [{ type: TYPE, status: 'True', reason: 'AtMaximum' }],
  });
  expect([await round(3_601_000), await round(3_602_000)]).toEqual([[['a', 'delete']], []]);
});

test('another reason is written after a pause that grows with the wait, up to an hour', async () => {
  const world = queueWorld(FULL);
  world.see({ name: 'a', gates: [GATE] });
  const round = leaderOf(world);
  await round(0);
  world.see({ name: 'a', gates: [GATE], cpu: 2 });
  expect([await round(59_000), await round(60_000)]).toEqual([
    [],
    [['a', 'AtMaximum: waits for 2 cpu: queue of-shop is at its maximum 0']],
  ]);
  world.see({ name: 'a', gates: [GATE], cpu: 3 });
  expect([(await round(119_000)).length, (await round(120_000)).length]).toEqual([0, 1]);
  await round(36_000_000);
  world.see({ name: 'a', gates: [GATE], cpu: 4 });
  expect([(await round(39_599_000)).length, (await round(39_600_000)).length]).toEqual([0, 1]);
});

test('twenty writes a second at most, and those that fail do not hold up others', async () => {
  const world = queueWorld(FULL);
  for (let index = 0; index < 50; index += 1) world.see({ name: `p-${index}`, gates: [GATE], priority: -index });
  const isRefused = (path: string): boolean => /\/p-\d\/status/.test(path);
  const failure: Outcome<unknown> = { kind: 'forbidden', message: 'no' };
  const round = leaderOf(world, (path) => (isRefused(path) ? failure : OK));
  const counts = [(await round(0)).length, (await round(1_000)).length, (await round(2_000)).length];
  expect([...counts, (await round(3_000)).length]).toEqual([20, 20, 10, 0]);
  expect(await round(60_000)).toHaveLength(10);
});

test('a new leader repeats nothing at once, and removes what its predecessor left on pods that run', async () => {
  const world = queueWorld(FULL);
  const conditions = [{ type: TYPE, status: 'True', reason: 'AtMaximum' }];
  world.see({ name: 'waits', gates: [GATE], conditions });
  world.see({ name: 'runs', admittedTo: 'of-shop', node: 'node-1', conditions });
  world.see({ name: 'other', admittedTo: 'of-shop', node: 'node-1' });
  const round = leaderOf(world);
  expect([await round(0), await round(1_000)]).toEqual([[['runs', 'delete']], []]);
  expect(await round(60_000)).toEqual([['waits', expect.stringContaining('AtMaximum')]]);
});

test('what a tenant writes into the condition of a running pod costs no requests', async () => {
  const world = queueWorld(FULL);
  world.see({ name: 'a', admittedTo: 'of-shop', node: 'node-1' });
  const round = leaderOf(world);
  await round(0);
  world.see({
    name: 'a',
    admittedTo: 'of-shop',
    node: 'node-1',
    conditions: [{ type: TYPE, status: 'True', reason: 'Forged' }],
  });
  expect(await round(1_000)).toEqual([]);
});
