import { expect, test } from 'vitest';
import { atMost } from '#dashboard/access/admit.ts';

test('atMost keeps the others waiting, in order, also after one that failed', async () => {
  const started: number[] = [];
  const ends = new Map<number, PromiseWithResolvers<number>>();
  const call = atMost(2, (id: number) => {
    const end = Promise.withResolvers<number>();
    ends.set(id, end);
    started.push(id);
    return end.promise;
  });
  const results = [1, 2, 3, 4].map((id) => call(id));
  await Promise.resolve();
  expect(started).toEqual([1, 2]);
  ends.get(2)?.reject(new Error('broken'));
  await expect(results[1]).rejects.toThrow('broken');
  expect(started).toEqual([1, 2, 3]);
  ends.get(1)?.resolve(1);
  expect(await results[0]).toBe(1);
  expect(started).toEqual([1, 2, 3, 4]);
  for (const id of [3, 4]) ends.get(id)?.resolve(id);
  expect(await Promise.all(results.slice(2))).toEqual([3, 4]);
  const after = call(5);
  expect(started.at(-1)).toBe(5);
  ends.get(5)?.resolve(5);
  await after;
});
