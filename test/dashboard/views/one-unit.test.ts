import { expect, test } from 'vitest';
import { inOneUnit } from '#dashboard/views/one-unit.ts';

test.each<[readonly (string | undefined)[], readonly (string | undefined)[]]>([
  [
    ['512Mi', '2Gi'],
    ['512Mi', '2,048Mi'],
  ],
  [
    ['150Mi', '16Gi', undefined],
    ['150Mi', '16,384Mi', undefined],
  ],
  [
    ['1Mi', '2Ti'],
    ['0.00098Gi', '2,048Gi'],
  ],
  [
    ['300Gi', '2Ti', '1073741824'],
    ['300Gi', '2,048Gi', '1Gi'],
  ],
  [
    ['1.5Gi', '20072Mi'],
    ['1.5Gi', '19.6Gi'],
  ],
  [
    ['500m', '2'],
    ['0.5', '2'],
  ],
  [
    ['0', '5Gi', '-512Mi'],
    ['0', '5,120Mi', '-512Mi'],
  ],
  [
    ['12', '400'],
    ['12', '400'],
  ],
  [
    ['5Gi', 'lots'],
    ['5Gi', 'lots'],
  ],
  [
    ['0Mi', undefined],
    ['0', undefined],
  ],
  [[], []],
])('%o is read as %o', (texts, shown) => {
  expect(inOneUnit(texts)).toEqual(shown);
});
