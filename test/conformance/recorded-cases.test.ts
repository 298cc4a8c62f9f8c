import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { compareAnswers } from './compare-answers.ts';
import { KINDS } from './kinds.ts';
import { readVectors, withoutAnswer } from './read-vectors.ts';

/** `preemption` is a second name. */
const recorded = [...KINDS].filter(([name]) => name !== 'preemption');

describe.each(recorded)('%s', (name, kind) => {
  test('every recorded answer is given', () => {
    const vectors = readVectors(name);
    expect(vectors.length).toBeGreaterThan(0);
    const mismatches = vectors.flatMap((vector, index) => {
      const answer = kind.answer(withoutAnswer(vector, kind.answerFields));
      const [expected, got] = compareAnswers(name, vector, JSON.parse(JSON.stringify(answer)) as typeof vector);
      return isDeepStrictEqual(expected, got) ? [] : [{ index, case: vector, expected, got }];
    });
    expect(mismatches.slice(0, 3)).toEqual([]);
  });
});
