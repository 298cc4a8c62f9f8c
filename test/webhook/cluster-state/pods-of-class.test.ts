import { describe, expect, test } from 'vitest';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { findPodsOfClass } from '#webhook/cluster-state/pod-look-up.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

function page(names: readonly string[], token?: string, bytes = 0): Outcome<unknown> {
  const items = names.map((name) => ({
    metadata: { name, namespace: 'team-a', annotations: { fat: 'x'.repeat(bytes) } },
    spec: { priorityClassName: name.startsWith('gold') ? 'gold' : 'low', containers: [{ name: 'c' }] },
  }));
  return { kind: 'ok', object: { metadata: { ...(token && { continue: token }) }, items } } as Outcome<unknown>;
}

/** Returns one page after the other, each after some time. */
async function find(pages: readonly Outcome<unknown>[], eachMs = 0) {
  const clock = manualClock();
  const { client, requests: asked } = scriptedClient(async () => {
    await clock.advance(eachMs);
    return pages[asked.length - 1] ?? { kind: 'serverError', message: 'no more' };
  });
  const { pods, isPartial } = await findPodsOfClass(client, clock, 'gold');
  return { names: pods.map(({ name }) => name), isPartial, asked };
}

describe('finding the pods of a class', () => {
  test('looks through all pages of all namespaces', async () => {
    const { names, isPartial, asked } = await find([page(['gold-1', 'low-1'], 'next'), page(['gold-2'])]);
    expect([names, isPartial]).toEqual([['gold-1', 'gold-2'], false]);
    expect(asked).toMatchObject([
      { path: '/api/v1/pods', query: { limit: 500 } },
      { path: '/api/v1/pods', query: { continue: 'next' } },
    ]);
  });

  test('gives up after four pages, saying so', async () => {
    const { names, isPartial, asked } = await find(Array.from({ length: 9 }, () => page(['gold'], 'next')));
    expect([names.length, isPartial, asked.length]).toEqual([4, true, 4]);
  });

  test('gives up when the time is over', async () => {
    const { isPartial, asked } = await find(
      Array.from({ length: 9 }, () => page([], 'next')),
      500,
    );
    expect([isPartial, asked.length]).toEqual([true, 2]);
  });

  test('passes over very large pods, and reads no more than 32 MiB', async () => {
    expect(await find([page(['gold', 'low'], undefined, 70_000)])).toMatchObject({ names: [], isPartial: true });
    const fat = page(Array(500).fill('low'), 'next', 40_000);
    const { isPartial, asked } = await find([fat, fat, fat, fat]);
    expect([isPartial, asked.length]).toEqual([true, 2]);
  });

  test('finds no more than a hundred', async () => {
    const { names, isPartial } = await find([page(Array(120).fill('gold'))]);
    expect([names.length, isPartial]).toEqual([100, true]);
  });

  test('knows what it found before it failed', async () => {
    expect(await find([page(['gold'], 'next')])).toMatchObject({ names: ['gold'], isPartial: true });
    expect(await find([])).toMatchObject({ names: [], isPartial: false });
  });
});
