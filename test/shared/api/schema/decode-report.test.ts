import fc from 'fast-check';
import { z } from 'zod';
import { expect, test } from 'vitest';
import { readReport } from '#shared/api/schema/decode-report.ts';
import { clipped, entries, INSTANT, INT32, name, oneOf } from '#shared/api/schema/report-fields.ts';

const ITEM = z.object({
  key: name(5).required(),
  text: clipped(3).optional(),
  inner: z.object({ word: oneOf(['a', 'b']).required(), count: INT32.optional() }).optional(),
});
const REPORT = z.object({ id: name(5).required(), at: INSTANT.optional(), items: entries(ITEM, 2, 'Items.') });

test.each([
  ['an optional field', { id: 'x', at: 'soon', items: [] }, { id: 'x', items: [] }],
  ['null', { id: 'x', at: null, items: null }, { id: 'x', items: [] }],
  ['a list that is none', { id: 'x', items: 'many' }, { id: 'x', items: [] }],
  ['an item without its key', { id: 'x', items: [{}, { key: 'b' }, 7, null] }, { id: 'x', items: [{ key: 'b' }] }],
  ['a key that is too long', { id: 'x', items: [{ key: 'a'.repeat(6) }] }, { id: 'x', items: [] }],
  [
    'a part without what it needs',
    { id: 'x', items: [{ key: 'a', inner: { word: 'c', count: 1 } }] },
    { id: 'x', items: [{ key: 'a' }] },
  ],
  [
    'two faults in one part',
    { id: 'x', items: [{ key: 'a', inner: { word: 7, count: 'two' } }, { key: 'b' }] },
    { id: 'x', items: [{ key: 'a' }, { key: 'b' }] },
  ],
  [
    'a text that is too long is cut',
    { id: 'x', items: [{ key: 'a', text: 'long' }] },
    { id: 'x', items: [{ key: 'a', text: 'lon' }] },
  ],
  [
    'what a list may not hold',
    { id: 'x', items: ['a', 'b', 'c'].map((key) => ({ key })) },
    { id: 'x', items: [{ key: 'a' }, { key: 'b' }] },
  ],
])('%s is left out, and the rest is read', (_what, raw, read) => {
  expect(readReport(REPORT, raw)).toEqual(read);
});

test.each([[{}], [{ id: '' }], [{ id: 7, items: [] }], [undefined], [null], [[]], ['report']])(
  'of %j nothing is left',
  (raw) => {
    expect(readReport(REPORT, raw)).toBeUndefined();
  },
);

test('what is read is not changed, and no value makes reading throw', () => {
  fc.assert(
    fc.property(fc.anything(), fc.array(fc.anything()), (some, items) => {
      const raw = { id: 'x', at: some, items: [...items, { key: 'a', inner: some }] };
      const before = structuredClone(raw);
      expect(readReport(REPORT, raw)?.id).toBe('x');
      expect(raw).toEqual(before);
    }),
    { seed: 45, numRuns: 300 },
  );
});
