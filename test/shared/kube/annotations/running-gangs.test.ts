import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { RunningGangs, runningGangsIn, withGangLimits } from '#shared/kube/annotations/running-gangs.ts';
import { buildPod } from '#test/build/cluster.ts';

const member = (name: string, change: Partial<Parameters<typeof buildPod>[0]> = {}, size = '3') =>
  buildPod({
    name,
    node: 'n0',
    phase: 'Running',
    labels: { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': size },
    ...change,
  });

describe('the gangs that run', () => {
  test('are those of pods on nodes that do not end', () => {
    const pods = [
      member('a'),
      member('b'),
      member('waits', { node: '' }),
      member('done', { phase: 'Succeeded' }),
      member('goes', { deletion: { at: 0, gracePeriodSeconds: 30 } }),
      member('elsewhere', { namespace: 'bank' }),
      member('wrong', {}, 'many'),
      buildPod({ name: 'plain', node: 'n0' }),
    ];
    const gangs = runningGangsIn(createSnapshot({ nodes: [], pods }));
    expect(gangs.of({ uid: 'uid-a' })).toEqual({ key: 'default/train', min: 3, running: ['uid-a', 'uid-b'] });
    expect(['waits', 'done', 'goes', 'wrong', 'plain'].map((name) => gangs.of({ uid: `uid-${name}` }))).toEqual(
      Array.from({ length: 5 }, () => undefined),
    );
    expect(gangs.of({ uid: 'uid-elsewhere' })?.running).toEqual(['uid-elsewhere']);
  });

  test('nothing is kept of pods that name none, or that are gone', () => {
    const gangs = new RunningGangs();
    gangs.observe(buildPod({ name: 'plain', node: 'n0' }));
    expect(gangs.isAny).toBe(false);
    gangs.observe(member('a'));
    gangs.observe(member('a', { phase: 'Failed' }));
    gangs.gone('uid-b');
    expect(gangs.isAny).toBe(false);
  });

  test('the lowest minimum that members name counts, whatever the order', () => {
    const order = fc.shuffledSubarray(['1', '2', '3', '4'], { minLength: 4 });
    fc.assert(
      fc.property(order, fc.array(fc.nat(3), { maxLength: 6 }), (sizes, again) => {
        const gangs = new RunningGangs();
        for (const size of [...sizes, ...again.map((at) => sizes[at] ?? '1')]) gangs.observe(member(size, {}, size));
        const found = new Set(sizes.map((size) => gangs.of({ uid: `uid-${size}` })));
        expect([found.size, [...found][0]?.min, [...found][0]?.running.length]).toEqual([1, 1, 4]);
        for (const size of sizes) gangs.gone(`uid-${size}`);
        expect(gangs.isAny).toBe(false);
      }),
      { seed: 48, numRuns: 200 },
    );
  });

  test('those that stay are known one by one, whatever goes before them', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...names), fc.boolean()), { maxLength: 30 }), (changes) => {
        const [gangs, stay] = [new RunningGangs(), new Set<string>()];
        for (const [name, isGone] of changes) {
          if (isGone) gangs.gone(`uid-${name}`);
          else gangs.observe(member(name));
          stay[isGone ? 'delete' : 'add'](`uid-${name}`);
        }
        for (const uid of stay) expect([...(gangs.of({ uid })?.running ?? [])].sort()).toEqual([...stay].sort());
        expect(names.filter((name) => gangs.of({ uid: `uid-${name}` }) !== undefined)).toHaveLength(stay.size);
      }),
      { seed: 49, numRuns: 200 },
    );
  });

  test('as many pods of one may be moved as it can spare, besides all other limits', () => {
    const gangs = new RunningGangs();
    const pods = ['a', 'b', 'c', 'd'].map((name) => member(name));
    pods.forEach((pod) => gangs.observe(pod));
    const limitsOf = withGangLimits(() => [{ name: 'limit', left: 9 }], gangs);
    expect(limitsOf(pods[0] as never)).toEqual([
      { name: 'limit', left: 9 },
      { name: 'gang default/train', left: 1 },
    ]);
    expect(limitsOf(pods[1] as never)[1]).toBe(limitsOf(pods[0] as never)[1]);
    expect(limitsOf(buildPod({ name: 'plain' }))).toHaveLength(1);
  });
});
