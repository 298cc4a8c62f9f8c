import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeReschedulingPolicy, encodeReschedulingPolicy } from '#shared/api/rescheduling-policy.ts';
import { AGGRESSIVENESS, MODES, type ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/);
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const minute = fc.integer({ min: 0, max: 1_439 });
const percentages = fc
  .dictionary(fc.constantFrom('cpu', 'memory', 'example.com/gpu'), fc.integer({ min: 0, max: 100 }), {
    noNullPrototype: true,
  })
  .map((table) => new Map(Object.entries(table)));

const policies: fc.Arbitrary<ReschedulingPolicy> = fc.record({
  name,
  nodeSelector: optional(
    fc.record({
      matchLabels: fc.constantFrom(new Map<string, string>(), new Map([['pool', 'a']])),
      matchExpressions: fc.constant([]),
    }),
  ),
  mode: fc.constantFrom(...MODES),
  schedule: fc.record({
    periodSeconds: fc.integer({ min: 30, max: 86_400 }),
    windows: fc.array(fc.record({ days: fc.uniqueArray(fc.integer({ min: 0, max: 6 })), start: minute, end: minute }), {
      maxLength: 3,
    }),
  }),
  underused: optional(
    fc.record({
      by: fc.constantFrom('Requests', 'Usage'),
      low: percentages,
      target: percentages,
      gain: optional(fc.integer({ min: 0, max: 99_999 }).map((hundredths) => hundredths / 100)),
    }),
  ),
  affinity: optional(fc.record({ required: fc.boolean(), preferred: fc.boolean(), spread: fc.boolean() })),
  badService: optional(
    fc.record({
      restarts: fc.integer({ min: 1, max: 1_000 }),
      oomKills: optional(fc.integer({ min: 1, max: 1_000 })),
      refused: optional(fc.integer({ min: 1, max: 1_000 })),
      stalls: optional(fc.integer({ min: 1, max: 100 })),
      move: fc.constantFrom('Victim', 'Aggressor'),
    }),
  ),
  aggressiveness: fc.constantFrom(...AGGRESSIVENESS),
  fitElsewhere: fc.boolean(),
});

test('decoding what was encoded gives it back', () => {
  fc.assert(
    fc.property(policies, (policy) => {
      const stored: unknown = JSON.parse(JSON.stringify(encodeReschedulingPolicy(policy)));
      expect(decodeReschedulingPolicy(stored)).toEqual({ ok: true, value: policy });
    }),
    { seed: 29 },
  );
});

describe('decodeReschedulingPolicy', () => {
  test('a policy without words is a dry run of nothing every five minutes', () => {
    expect(decodeReschedulingPolicy({ metadata: { name: 'a' }, spec: {} })).toMatchObject({
      value: {
        mode: 'DryRun',
        aggressiveness: 'Medium',
        fitElsewhere: true,
        schedule: { periodSeconds: 300, windows: [] },
      },
    });
  });

  test.each([
    [{ mode: 'Off' }, 'spec.mode'],
    [{ schedule: { period: 'soon' } }, 'spec.schedule.period'],
    [{ schedule: { period: '1s' } }, 'spec.schedule.period'],
    [{ schedule: { windows: [{ start: '9:00', end: '10:00' }] } }, 'spec.schedule.windows[0].start'],
    [{ schedule: { windows: [{ days: ['Sonntag'], start: '09:00', end: '10:00' }] } }, 'spec.schedule.windows[0].days'],
    [{ underused: { low: { cpu: 120 } } }, 'spec.underused.low.cpu'],
    [{ underused: { gain: 'much' } }, 'spec.underused.gain'],
    [{ badService: {} }, 'spec.badService.restarts'],
    [{ badService: { move: 'Aggressor' } }, 'spec.badService.restarts'],
    [{ badService: { oomKills: 0 } }, 'spec.badService.oomKills'],
    [{ badService: { stalls: 101 } }, 'spec.badService.stalls'],
    [{ affinity: { required: 'yes' } }, 'spec.affinity.required'],
    [{ aggressiveness: 'Reckless' }, 'spec.aggressiveness'],
  ])('%j is refused with the path of its field', (spec, field) => {
    expect(decodeReschedulingPolicy({ metadata: { name: 'a' }, spec })).toMatchObject({ ok: false, field });
  });

  test('whatever a client wrote, decoding does not throw', () => {
    fc.assert(
      fc.property(fc.anything(), (spec) => {
        expect(() => decodeReschedulingPolicy({ metadata: { name: 'a' }, spec })).not.toThrow();
      }),
      { seed: 29 },
    );
  });
});
