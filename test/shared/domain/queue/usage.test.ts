import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AmountsByQueue } from '#shared/domain/queue/usage.ts';
import { queueAmounts } from '#shared/domain/queue/queue.ts';
import { amountsOf } from '#test/build/cluster.ts';
import { cpu } from './builders.ts';

const KINDS = [cpu(1), cpu(2), new Map([['memory', 4]])];

test.each(['-1', '-9223372036854775807', '-1Gi', '-1m'])('%s of a pod is nothing', (amount) => {
  const amounts = queueAmounts(amountsOf({ cpu: amount, memory: amount }));
  expect([...amounts]).toEqual([
    ['cpu', 0],
    ['memory', 0],
  ]);
});

describe('AmountsByQueue', () => {
  test('what was added and taken off again, in any order, leaves nothing behind', () => {
    const pod = fc.record({ queue: fc.constantFrom('a', 'b'), kind: fc.nat(KINDS.length - 1), stays: fc.boolean() });
    const holds = (pods: readonly { queue: string; kind: number; stays: boolean }[]): void => {
      const sums = new AmountsByQueue();
      const expected = new AmountsByQueue();
      for (const { queue, kind, stays } of pods) {
        sums.add(queue, KINDS[kind] ?? cpu(0));
        if (stays) expected.add(queue, KINDS[kind] ?? cpu(0));
      }
      for (const { queue, kind, stays } of pods) if (!stays) sums.add(queue, KINDS[kind] ?? cpu(0), -1);
      expect(sums.sums()).toEqual(expected.sums());
    };
    fc.assert(fc.property(fc.array(pod), holds), { seed: 28 });
  });

  test('all of another are added, which stays as it is', () => {
    const [all, other] = [new AmountsByQueue(), new AmountsByQueue()];
    other.add('a', cpu(2), 3);
    all.add('a', cpu(1));
    all.addAll(other);
    all.add('a', cpu(1));
    expect([all.sums().get('a'), other.sums().get('a')]).toEqual([cpu(8), cpu(6)]);
  });
});
