import { expect, test } from 'vitest';
import { collectInSteps, finish } from '#shared/domain/base/steps.ts';

const ITEMS = Array.from({ length: 2_500 }, (_, index) => index);
const evens = (item: number): string | undefined => (item % 2 === 0 ? `${item}` : undefined);

test('what is found is kept in the order of the items', () => {
  const wanted = ITEMS.filter((item) => item % 2 === 0).map(String);
  expect(finish(collectInSteps(ITEMS, evens))).toEqual(wanted);
});

test('a step is as many items as the caller asks for', () => {
  const looked: number[] = [];
  const steps = collectInSteps(new Set(ITEMS), (item) => void looked.push(item), 1_200);
  const counts = Array.from({ length: 3 }, () => (steps.next(), looked.length));
  expect(counts).toEqual([1_200, 2_400, 2_500]);
});

test('a step is a thousand items', () => {
  const looked: number[] = [];
  const steps = collectInSteps(ITEMS, (item) => void looked.push(item));
  const counts = Array.from({ length: 3 }, () => (steps.next(), looked.length));
  expect(counts).toEqual([1_000, 2_000, 2_500]);
});
