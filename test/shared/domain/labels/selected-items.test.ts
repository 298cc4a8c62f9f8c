import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { selectAlike, selectItems, selectsAny } from '#shared/domain/priority-rules/review-policies.ts';
import { finish } from '#test/build/finish.ts';

const SEED = 20_261_122;
const LABELLED = new Map([['a', 'b']]);
const PLAIN = new Map<string, string>();
const selector = { isEmpty: false, matches: (labels: ReadonlyMap<string, string>) => labels === LABELLED };

function selected(marks: readonly boolean[]) {
  return finish(
    selectItems(
      selector,
      marks.map((mark) => (mark ? LABELLED : PLAIN)),
    ),
  );
}

describe('selectItems', () => {
  test('says of two lists what comparing them item by item says', () => {
    const pairs = fc.array(fc.tuple(fc.boolean(), fc.boolean()), { maxLength: 100 });
    fc.assert(
      fc.property(pairs, (marks) => {
        const [a, b] = [selected(marks.map(([first]) => first)), selected(marks.map(([, second]) => second))];
        expect(selectsAny(a)).toBe(marks.some(([first]) => first));
        expect(selectAlike(a, b)).toBe(marks.some(([first, second]) => first && second));
      }),
      { seed: SEED, numRuns: 500 },
    );
  });

  test('comes in steps, so that 10,000 items need not be asked about at once', () => {
    const steps = selectItems(
      selector,
      Array.from({ length: 10_000 }, () => LABELLED),
    );
    let count = 0;
    while (steps.next().done !== true) count += 1;
    expect(count).toBeGreaterThanOrEqual(50);
  });
});
