import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePriorityQuota, encodePriorityQuota, decodeLedger, encodeLedger } from '#shared/api/priority-quota.ts';
import { valueOf } from '#test/build/value-of.ts';
import { amounts, selector, time, word } from './generated-fields.ts';

const bound = fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 2 });
const common = { namespaceSelector: selector, hard: amounts, defaultRequest: amounts, requireLabel: fc.constant(true) };
const spec = fc.oneof(
  fc.record(
    { ...common, priorityClassNames: fc.uniqueArray(word, { minLength: 1, maxLength: 5 }) },
    { requiredKeys: ['priorityClassNames'] },
  ),
  fc.record(
    { ...common, priority: fc.record({ min: bound, max: bound }, { requiredKeys: [] }) },
    { requiredKeys: ['priority'] },
  ),
);
const quota = fc.record({
  apiVersion: fc.constant('plimsoll.dev/v1alpha1'),
  kind: fc.constant('PriorityQuota'),
  metadata: fc.record({ name: word }),
  spec,
});

const reservation = fc.record(
  {
    uid: fc.uuid(),
    namespace: word,
    pod: word,
    amounts,
    admittedAt: time,
    generation: fc.integer({ min: 1, max: 1_000 }),
    claim: word,
  },
  { requiredKeys: ['uid', 'namespace', 'pod', 'amounts', 'admittedAt'] },
);
const slice = fc.record(
  { holder: word, amounts, renewals: fc.nat(), wanted: fc.constant(true) },
  { requiredKeys: ['holder', 'amounts', 'renewals'] },
);
const ledger = fc.record({
  used: amounts,
  byNamespace: fc.uniqueArray(fc.record({ namespace: word, used: amounts }), {
    selector: ({ namespace }) => namespace,
    maxLength: 5,
  }),
  reservations: fc.uniqueArray(reservation, { selector: ({ uid }) => uid, maxLength: 5 }),
  slices: fc.uniqueArray(slice, { selector: ({ holder }) => holder, maxLength: 5 }),
});

describe('decodePriorityQuota and encodePriorityQuota', () => {
  test('an object that is read and written again is the same', () => {
    fc.assert(
      fc.property(quota, (object) => {
        expect(encodePriorityQuota(valueOf(decodePriorityQuota(object)))).toEqual(object);
      }),
      { seed: 14, numRuns: 300 },
    );
  });
});

describe('decodeLedger and encodeLedger', () => {
  test('a status that is read and written again is the same', () => {
    fc.assert(
      fc.property(ledger, (status) => {
        expect(encodeLedger(valueOf(decodeLedger({ status })))).toEqual(status);
      }),
      { seed: 14, numRuns: 300 },
    );
  });

  test.each([
    ['status.reservations[0].admittedAt', { reservations: [{ uid: 'x', admittedAt: 'soon' }] }],
    ['status.slices[0].renewals', { slices: [{ holder: 'x', renewals: 'many' }] }],
    ['status.used.pods', { used: { pods: 'one' } }],
  ])('%s that cannot be read is refused by its name', (field, status) => {
    expect(decodeLedger({ status })).toMatchObject({ ok: false, field });
  });
});
