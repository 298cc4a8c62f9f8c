import { expect, test } from 'vitest';
import { decodeAdmitted, encodeAdmitted } from '#shared/api/admitted.ts';

const MARK = { queue: 'q', application: 'a', mayPreempt: true, mayBePreempted: true, at: 1_000, decision: 'd' };

test('the gang with which a pod went in is kept in its mark', () => {
  const mark = { ...MARK, gang: { name: 'train', min: 8 } };
  expect(decodeAdmitted(encodeAdmitted(mark))).toEqual(mark);
});

test('a mark of a version without gangs names none', () => {
  expect(decodeAdmitted(encodeAdmitted(MARK))).toEqual(MARK);
});

test.each([
  null,
  'train',
  {},
  { name: 'train' },
  { name: '', min: 1 },
  { name: 'train', min: 0 },
  { name: 'train', min: 1.5 },
  { name: 'train', min: '8' },
  { name: 'x'.repeat(64), min: 1 },
])('a gang that cannot be read (%j) counts as absent', (gang) => {
  expect(decodeAdmitted(JSON.stringify({ ...MARK, at: '1970-01-01T00:00:01Z', gang }))).toEqual(MARK);
});
