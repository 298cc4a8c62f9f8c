import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { loopsSchema, createPreemptionLoops } from '#scheduler/preemptions/preemption-loops.ts';
import { buildPod } from '#test/build/cluster.ts';
import { type ManualClock, manualClock } from '#test/fakes/manual-clock.ts';

const ENFORCE = { mode: 'Enforce' } as const;
const ofOwner = (name: string) => ({
  ...buildPod({ name: `${name}-1` }),
  owners: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: name, isController: true }],
});
const A = ofOwner('a');
const B = ofOwner('b');

/** A process that has seen the pods of `a` and `b` preempt each other this many times in turn, a minute apart. */
async function process(clock: ManualClock, rounds: number, given: object = ENFORCE) {
  const loops = createPreemptionLoops(loopsSchema.parse(given), clock);
  for (let round = 0; round < rounds; round += 1) {
    await clock.advance(60_000);
    const [victim, preemptor] = round % 2 === 0 ? [B, A] : [A, B];
    const nominated = [{ pod: preemptor, priority: round + 1 }];
    loops.see({ pod: victim, node: 'n0', priority: round }, () => nominated);
  }
  return loops;
}

describe('createPreemptionLoops', () => {
  test('a process that starts takes known rounds from the NodePressure, so that the count does not begin anew', async () => {
    const clock = manualClock();
    const before = await process(clock, 2);
    await clock.advance(1);
    const after = await process(clock, 0);
    after.adopt('n0', before.records().get('n0') ?? []);
    expect(after.records()).toEqual(before.records());
    expect(after.refusal(B, A)).toBeUndefined();
    after.see({ pod: B, node: 'n0', priority: 1 }, () => [{ pod: A, priority: 2 }]);
    expect(after.refusal(A, B)?.facts).toMatchObject({ rounds: 3, node: 'n0' });
  });

  test('a loop of the time before a restart ends when it would have ended', async () => {
    const clock = manualClock();
    const before = await process(clock, 3);
    await clock.advance(60_000);
    const after = await process(clock, 0);
    after.adopt('n0', before.records().get('n0') ?? []);
    expect(after.isAny()).toBe(true);
    await clock.advance(HOUR_MS - 3 * 60_000);
    expect([after.isAny(), after.refusal(A, B)]).toEqual([false, undefined]);
  });

  test('the action Avoid refuses nothing, but the loop is known', async () => {
    const loops = await process(manualClock(), 3, { ...ENFORCE, action: 'Avoid' });
    expect(loops.refusal(A, B)).toBeUndefined();
    expect(loops.between(A, B)?.code).toBe('PreemptionLoop');
    expect(loops.records().get('n0')).toMatchObject([{ action: 'Avoid', victim: { name: 'b' } }]);
    expect([...loops.toLeave(B).keys(), ...loops.toLeave(A).keys()]).toEqual(['n0']);
    expect(loops.toLeave(B).get('n0')?.facts).toMatchObject({ preemptor: 'default/ReplicaSet/b', rounds: 3 });
  });

  test('a party that makes the same room again, because the other took it, is not refused; the other is', async () => {
    const clock = manualClock();
    const loops = await process(clock, 0);
    for (let round = 0; round < 3; round += 1) {
      await clock.advance(60_000);
      loops.see({ pod: B, node: 'n0', priority: 1 }, () => [{ pod: A, priority: 2 }]);
    }
    expect(loops.between(B, A)?.code).toBe('PreemptionLoop');
    expect([loops.refusal(B, A), loops.refusal(A, B)?.code]).toEqual([undefined, 'PreemptionLoop']);
    expect(loops.records().get('n0')).toMatchObject([{ action: 'Report' }]);
    expect([...loops.toLeave(A).keys(), ...loops.toLeave(B).keys()]).toEqual([]);
  });

  test('a dry run is recorded as such', async () => {
    const loops = await process(manualClock(), 3, { mode: 'DryRun', action: 'Avoid' });
    expect(loops.refusal(A, B)).toBeUndefined();
    expect(loops.records().get('n0')).toMatchObject([{ action: 'Report' }]);
  });

  test('a clock that is set back leaves no loop for longer than before', async () => {
    const clock = manualClock();
    const loops = await process(clock, 3);
    expect(loops.refusal(A, B)).toBeDefined();
    expect(loops.toLeave(B).size).toBe(0);
    clock.setWallTime(clock.now() - 100 * HOUR_MS);
    expect(loops.refusal(A, B)).toBeUndefined();
  });
});
