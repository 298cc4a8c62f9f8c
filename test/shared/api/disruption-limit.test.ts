import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeAccount, encodeAccount } from '#shared/api/disruption-account.ts';
import { decodeDisruptionLimit, encodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { decodeDisruptionPolicy, encodeDisruptionPolicy } from '#shared/api/disruption-policy.ts';
import { CAUSES, DEFAULT_RETENTION } from '#shared/domain/disruption/disruption.ts';
import { COMPONENTS } from '#shared/domain/disruption/limit-rule.ts';
import { valueOf } from '#test/build/value-of.ts';
import { selector, time, word } from './generated-fields.ts';

const portion = fc.oneof(
  fc.nat(2_000),
  fc.nat(100).map((value) => `${value}%`),
);
/** As they are written: the largest unit that has no remainder. */
const window = fc.oneof(
  fc.integer({ min: 1, max: 99 }).map((value) => `${value}h`),
  fc.integer({ min: 1, max: 59 }).map((value) => `${value}m`),
  fc.integer({ min: 1, max: 59 }).map((value) => `${value}s`),
);
const limits = fc.array(fc.record({ max: portion, window }), { minLength: 1, maxLength: 4 });
const share = fc.record({ component: fc.constantFrom(...COMPONENTS), percent: fc.integer({ min: 1, max: 100 }) });
const shares = fc.uniqueArray(share, { selector: ({ component }) => component, minLength: 1, maxLength: 3 });

function object(kind: string, metadata: object, spec: fc.Arbitrary<object>) {
  return spec.map((each) => ({ apiVersion: 'plimsoll.dev/v1alpha1', kind, metadata, spec: each }));
}

const limit = object(
  'DisruptionLimit',
  { namespace: 'team-a', name: 'web' },
  fc.record({ selector, limits, minAvailable: portion, shares }, { requiredKeys: ['selector'] }),
);
const priority = fc.oneof(
  fc.record({ min: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ max: fc.integer({ min: 10, max: 20 }) }),
);
const policy = object(
  'DisruptionPolicy',
  { name: 'plimsoll' },
  fc.record(
    {
      forbiddingBudgets: fc.constantFrom('Warn', 'Deny'),
      defaults: fc.array(fc.record({ priority, limits, minAvailable: portion }, { requiredKeys: [] }), {
        minLength: 1,
        maxLength: 4,
      }),
      retention: fc.oneof(
        fc.record({ period: fc.integer({ min: 169, max: 999 }).map((hours) => `${hours}h`) }),
        fc.record({ perNamespace: fc.integer({ min: 1, max: 499 }), total: fc.integer({ min: 1, max: 19_999 }) }),
      ),
    },
    { requiredKeys: [] },
  ),
);
const debit = fc.record(
  {
    uid: fc.uuid(),
    pod: word,
    at: time,
    lapsesAt: time,
    component: fc.constantFrom(...COMPONENTS),
    rules: fc.array(word, { maxLength: 3 }),
    cause: fc.constantFrom(...CAUSES),
    caller: word,
    overran: word,
  },
  { requiredKeys: ['uid', 'pod', 'at', 'lapsesAt', 'component', 'rules'] },
);
const account = fc.record({ accountVersion: fc.constant(1), debits: fc.array(debit, { maxLength: 5 }) });

test('a limit that is read and written again is the same', () => {
  fc.assert(
    fc.property(limit, (each) => {
      expect(encodeDisruptionLimit(valueOf(decodeDisruptionLimit(each)))).toEqual(each);
    }),
    { seed: 27 },
  );
});

test('a policy that is read and written again is the same', () => {
  fc.assert(
    fc.property(policy, (each) => {
      expect(encodeDisruptionPolicy(valueOf(decodeDisruptionPolicy(each)))).toEqual(each);
    }),
    { seed: 27 },
  );
});

test('an account that is read and written again is the same', () => {
  fc.assert(
    fc.property(account, (status) => {
      expect(encodeAccount(valueOf(decodeAccount({ status })))).toEqual(status);
    }),
    { seed: 27 },
  );
});

test('an account without status is empty', () => {
  expect(decodeAccount({ metadata: {} })).toEqual({ ok: true, value: [] });
});

test.each([
  [{ selector: {}, limits: [{ max: 'many', window: '1h' }] }, 'spec.limits[0].max'],
  [{ selector: {}, limits: [{ window: '1h' }] }, 'spec.limits[0].max'],
  [{ selector: {}, limits: [{ max: 1, window: 'soon' }] }, 'spec.limits[0].window'],
  [{ selector: {}, limits: [{ max: 1, window: '0s' }] }, 'spec.limits[0].window'],
  [{ limits: [] }, 'spec.selector'],
  [{ selector: {}, minAvailable: 1.5 }, 'spec.minAvailable'],
  [{ selector: {}, shares: [{ percent: 5 }] }, 'spec.shares[0].component'],
])('a limit %j is refused by the name of its field', (spec, field) => {
  expect(decodeDisruptionLimit({ metadata: { name: 'a' }, spec })).toMatchObject({ ok: false, field });
});

test.each([
  [{ debits: [{ pod: 'a' }] }, 'status.debits[0].uid'],
  [{ debits: [{ uid: 'a', at: 'soon' }] }, 'status.debits[0].at'],
  [{ accountVersion: 2 }, 'status.accountVersion'],
])('an account %j lets nothing go: it is refused by the name of its field', (status, field) => {
  expect(decodeAccount({ status })).toMatchObject({ ok: false, field });
});

test.each([
  [undefined, DEFAULT_RETENTION],
  [{}, DEFAULT_RETENTION],
  [{ period: '168h', perNamespace: 500, total: 20_000 }, DEFAULT_RETENTION],
  [{ period: '15m' }, { ...DEFAULT_RETENTION, keepMs: 900_000 }],
  [
    { perNamespace: 1, total: 2 },
    { ...DEFAULT_RETENTION, perNamespace: 1, total: 2 },
  ],
])('the retention %j of a DisruptionPolicy is read, with defaults', (retention, expected) => {
  const raw = { metadata: { name: 'plimsoll' }, spec: { retention } };
  expect(valueOf(decodeDisruptionPolicy(raw)).retention).toEqual(expected);
});

test.each([
  [{ period: '14m' }, 'spec.retention.period', 'expected 15m to 8760h, got "14m"'],
  [{ period: '9000h' }, 'spec.retention.period', 'expected 15m to 8760h, got "9000h"'],
  [{ period: 'week' }, 'spec.retention.period', 'expected a duration such as 1h, got "week"'],
  [{ total: 0 }, 'spec.retention.total', ''],
])('the retention %j of a DisruptionPolicy is refused', (retention, field, message) => {
  const raw = { metadata: { name: 'plimsoll' }, spec: { retention } };
  expect(decodeDisruptionPolicy(raw)).toMatchObject({
    ok: false,
    field,
    message: expect.stringContaining(message) as string,
  });
});
