import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { damagedCases, refusalOf } from './damage.ts';
import { KINDS } from './kinds.ts';
import { readVectors } from './read-vectors.ts';

describe.each([...KINDS].filter(([name]) => name !== 'preemption'))('%s', (name, kind) => {
  test('a damaged case is answered, or refused by the name of a field', () => {
    fc.assert(
      fc.property(damagedCases(readVectors(name), kind), (damaged) => {
        expect(refusalOf(kind, damaged)).toMatch(/^$|^cannot read the case: /);
      }),
      { numRuns: 20_000 },
    );
  });
});
