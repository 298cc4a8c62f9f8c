import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeDisruption, encodeDisruption, encodeOutcome } from '#shared/api/disruption.ts';
import { CAUSES, type Disruption, madeRoom } from '#shared/domain/disruption/disruption.ts';

const name = fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/);
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const priority = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const because = fc.record({
  code: name,
  text: name,
  facts: fc.dictionary(name, fc.oneof(name, fc.integer(), fc.boolean()), { maxKeys: 3, noNullPrototype: true }),
});

const preemptor = fc.record({
  uid: name,
  pod: optional(name),
  priorityClassName: optional(name),
  priority,
  nominatedNode: name,
});

const disruptions: fc.Arbitrary<Disruption> = fc.record({
  namespace: name,
  name,
  spec: fc
    .record({
      pod: name,
      podUid: name,
      node: name,
      priority,
      removedAt: instant,
      because,
      owner: optional(fc.record({ kind: name, name, uid: name })),
      priorityClassName: optional(name),
      classRule: optional(name),
      room: fc.tuple(fc.constantFrom(...CAUSES), optional(preemptor)),
      requestedBy: optional(name),
      decision: optional(name),
      debited: optional(fc.record({ rules: fc.array(name, { maxLength: 3 }), overran: optional(name) })),
      ranked: fc.array(fc.record({ pod: optional(name), priority: optional(priority), code: name }), { maxLength: 10 }),
    })
    .map(({ room, ...spec }) => ({ ...spec, ...madeRoom(...room) })),
  outcome: fc.record({
    count: fc.integer({ min: 1, max: 1_000 }),
    others: fc.array(fc.record({ pod: name, podUid: name }), { maxLength: 100 }),
    goneAt: optional(instant),
    replacement: optional(fc.record({ pod: name, node: name })),
    placedOn: optional(name),
    avoid: optional(fc.record({ isHard: fc.boolean(), until: instant })),
  }),
});

/** As the API server stores both writes, in JSON. */
function stored(disruption: Disruption): unknown {
  const object = { ...encodeDisruption(disruption, {}), status: encodeOutcome(disruption) };
  return JSON.parse(JSON.stringify(object));
}

test('decoding what was encoded gives it back', () => {
  fc.assert(
    fc.property(disruptions, (disruption) => {
      expect(decodeDisruption(stored(disruption))).toEqual(disruption);
    }),
    { seed: 20_261_126 },
  );
});

test('whatever a client wrote, decoding does not throw, and without a pod there is no record', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), fc.anything(), (metadata, spec, status) => {
      expect(() => decodeDisruption({ metadata, spec, status })).not.toThrow();
    }),
    { seed: 20_261_126 },
  );
  expect(
    decodeDisruption({ metadata: { name: 'a' }, spec: { podUID: 'u', removedAt: '2026-01-01T00:00:00Z' } }),
  ).toBeUndefined();
});
