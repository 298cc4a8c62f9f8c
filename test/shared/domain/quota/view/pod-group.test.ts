import { describe, expect, test } from 'vitest';
import { CostTable, groupOf, join, leave, type NamespacePods } from '#shared/domain/quota/view/pod-group.ts';
import { hasReached, ViewProof } from '#shared/domain/quota/view/seen-pod.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { printAmounts } from '#test/conformance/print-amounts.ts';

const NAMES = ['pods', 'memory'];

function namespace(): NamespacePods {
  return {
    name: 'a',
    labels: new Map(),
    revision: 1,
    groups: new Map(),
    byName: new Map(),
    holds: 0,
    epoch: 0,
    reached: 0,
  };
}

describe('CostTable', () => {
  const one = amountsOf({ pods: '1', memory: '1Gi', cpu: '1' });

  test('stores equal costs once, in the order of its names', () => {
    const table = new CostTable(NAMES);
    const cost = table.take(one);
    expect(table.take(amountsOf({ memory: '1Gi', pods: '1' }))).toBe(cost);
    expect(printAmounts(new Map(cost.amounts.map((amount, at) => [NAMES[at] ?? '', amount])))).toEqual({
      pods: '1',
      memory: '1Gi',
    });
    expect(table.size).toBe(1);
    for (const other of [{ pods: '1' }, { pods: '1', memory: '2Gi' }, { pods: '2', memory: '1Gi' }])
      table.take(amountsOf(other));
    expect(table.size).toBe(4);
  });

  test('forgets a cost that was given back as often as it was taken, and no earlier', () => {
    const table = new CostTable(NAMES);
    const cost = [1, 2, 3].map(() => table.take(one))[0] ?? table.take(one);
    const sizes = [1, 2, 3].map(() => {
      table.giveBack(cost);
      return table.size;
    });
    expect(sizes).toEqual([1, 1, 0]);
    expect(table.take(one)).not.toBe(cost);
  });

  test.each<[Record<string, string>, boolean]>([
    [{ pods: '1', memory: '1Gi' }, true],
    [{ pods: '1', memory: '1Gi', cpu: '5' }, true],
    [{ pods: '1', memory: '1Mi' }, false],
    [{ pods: '1', memory: '1G' }, false],
    [{ pods: '1' }, false],
    [{ memory: '1Gi' }, false],
  ])('%j is the cost of a pod of 1Gi: %s', (amounts, expected) => {
    const table = new CostTable(NAMES);
    expect(table.isCost(table.take(one), amountsOf(amounts))).toBe(expected);
  });
});

describe('a group of pods', () => {
  const level = { className: 'high', priority: 1 };

  test.each<[string, Parameters<typeof groupOf>[1], boolean]>([
    ['the same level', { className: 'high', priority: 1 }, true],
    ['another class', { className: 'low', priority: 1 }, false],
    ['another priority', { className: 'high', priority: 2 }, false],
    ['no level', undefined, false],
  ])('has pods of %s', (_, other, isSame) => {
    const pods = namespace();
    const group = groupOf(pods, level, 2);
    expect(groupOf(pods, other, 2) === group).toBe(isSame);
    expect(pods.groups.size).toBe(isSame ? 1 : 2);
  });

  test('adds up its pods, also those that cannot be read, and goes with the last', () => {
    const pods = namespace();
    const table = new CostTable(NAMES);
    const [small, large] = ['1', '2'].map((amount) => table.take(amountsOf({ pods: '1', memory: amount })));
    const group = groupOf(pods, level, 2);
    const steps = [
      [join, small],
      [join, large],
      [join, undefined],
      [leave, small],
      [leave, undefined],
      [leave, large],
    ] as const;
    const seen = steps.map(([step, cost]) => {
      step(group, cost);
      return [group.pods, ...group.sums.map(({ mantissa }) => mantissa), pods.groups.size];
    });
    expect(seen).toEqual([
      [1, 1, 1, 1],
      [2, 2, 3, 1],
      [3, 2, 3, 1],
      [2, 1, 2, 1],
      [1, 1, 2, 1],
      [0, 0, 0, 0],
    ]);
  });
});

describe('hasReached', () => {
  const at = (pods: number, namespaces: number) => ({ pods, namespaces });

  test.each([
    [at(5, 5), true],
    [at(6, 5), true],
    [at(5, 6), true],
    [at(4, 9), false],
    [at(9, 4), false],
  ])('of %j, what is at 5 and 5: %s', (reached, expected) => {
    expect(hasReached(reached, at(5, 5))).toBe(expected);
  });
});

describe('ViewProof', () => {
  const whole = (position: number) => ({ isWhole: true, position });

  test.each<[string, Parameters<ViewProof['update']>[0], number, number | undefined]>([
    ['the view has reached the revision', whole(10), 100, undefined],
    ['it is beyond', whole(11), 100, undefined],
    ['it has not reached it', whole(9), -Infinity, 100],
    ['it is not whole', { isWhole: false, position: 10 }, -Infinity, 100],
  ])('holds as of the question where %s', (_, view, provenAt, awaitedSince) => {
    const proof = new ViewProof();
    expect([proof.provenAt, proof.awaitedSince]).toEqual([-Infinity, undefined]);
    proof.await(100, 10, view);
    expect([proof.provenAt, proof.awaitedSince]).toEqual([provenAt, awaitedSince]);
    proof.update(whole(10));
    expect([proof.provenAt, proof.awaitedSince]).toEqual([100, undefined]);
    proof.update(whole(50));
    expect(proof.provenAt).toBe(100);
  });

  test('never goes back', () => {
    const proof = new ViewProof();
    proof.await(100, 10, whole(10));
    proof.await(90, 10, whole(10));
    expect([proof.provenAt, proof.awaitedSince]).toEqual([100, undefined]);
  });
});
