import fc from 'fast-check';
import { describe, test } from 'vitest';
import { type Fault, type StreamFault } from '#test/fakes/watch-server.ts';
import { SECOND, rig, expectEqual, type Rig } from './reflector-rig.ts';

describe('createReflector', () => {
  test('equals the server after any interleaving of changes and faults', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action(), { maxLength: 40 }), fc.boolean(), async (actions, isHostile) => {
        const rigged = rig();
        rigged.server.isHostile = isHostile;
        await rigged.run(async () => {
          for (const act of actions) await act(rigged);
          rigged.server.listFaults.length = 0;
          rigged.server.watchFaults.length = 0;
          for (let round = 0; round < 8; round += 1) await rigged.clock.advance(45 * SECOND);
          expectEqual(rigged);
        });
      }),
      { numRuns: 300 },
    );
  });
});

type Action = (rigged: Rig) => Promise<void> | void;

const STREAM_FAULTS: readonly StreamFault[] = [
  'end',
  'truncate',
  'reset',
  'badLine',
  'unknownType',
  'errorWithoutCode',
  'goneInStream',
  'noVersion',
  'silence',
];

function action(): fc.Arbitrary<Action> {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const put = fc.record({ name, value: fc.nat(9) });
  const fault: fc.Arbitrary<Fault> = fc.oneof(
    fc.record({ kind: fc.constantFrom(...STREAM_FAULTS), after: fc.nat(4) }),
    fc.record({ kind: fc.constant('status' as const), status: fc.constantFrom(400, 403, 404, 410, 429, 500, 504) }),
    fc.constant<Fault>({ kind: 'unreachable' }),
  );
  return fc.oneof(
    {
      weight: 6,
      arbitrary: put.map(
        ({ name: key, value }): Action =>
          ({ server }) =>
            server.put(key, value),
      ),
    },
    {
      weight: 3,
      arbitrary: name.map(
        (key): Action =>
          ({ server }) =>
            server.remove(key),
      ),
    },
    {
      weight: 1,
      arbitrary: fault.map(
        (it): Action =>
          ({ server }) =>
            void server.listFaults.push(it),
      ),
    },
    {
      weight: 3,
      arbitrary: fault.map(
        (it): Action =>
          ({ server }) =>
            void server.watchFaults.push(it),
      ),
    },
    { weight: 1, arbitrary: fc.constant<Action>(({ server }) => server.compact()) },
    { weight: 1, arbitrary: fc.constant<Action>(({ server }) => server.bookmark()) },
    {
      weight: 4,
      arbitrary: fc.nat(120_000).map(
        (ms): Action =>
          ({ clock }) =>
            clock.advance(ms),
      ),
    },
  );
}
