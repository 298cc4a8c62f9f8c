import { expect, test } from 'vitest';
import { onceATurn } from '#shared/runtime/metrics.ts';

/** Counts its runs; the first fails where asked. */
function counted({ failsFirst }: { readonly failsFirst: boolean }) {
  let runs = 0;
  return onceATurn(() => {
    runs += 1;
    return failsFirst && runs === 1 ? Promise.reject(new Error('failed')) : Promise.resolve(runs);
  });
}

test('callers of one turn share a run, and a later caller gets another', async () => {
  const ask = counted({ failsFirst: false });
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
  expect(await ask()).toBe(2);
});

test('a run that fails does so for the callers that share it, and for no other', async () => {
  const ask = counted({ failsFirst: true });
  const answers = await Promise.allSettled([ask(), ask()]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await ask()).toBe(2);
});
