import { expect, test } from 'vitest';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { createShares, deservedShares } from '#shared/domain/queue/shares.ts';
import { cpu, queue } from './builders.ts';

test('a maximum of the root bounds what all queues share, where there is more', () => {
  const tree = createQueueTree([queue('root', undefined, { max: cpu(6) }), queue('a'), queue('b')]);
  const requested = new Map(['a', 'b'].map((name) => [name, cpu(99)]));
  const deservedOf = (total: number) =>
    ['root', 'a', 'b'].map((name) =>
      deservedShares({ tree, total: cpu(total), requested })
        .get(name)
        ?.get('cpu'),
    );
  expect(deservedOf(10)).toEqual([6, 3, 3]);
  expect(deservedOf(4)).toEqual([4, 2, 2]);
});

test('ten thousand queues that ask are taken in in steps', () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `q${index}`);
  const tree = createQueueTree(names.map((name) => queue(name)));
  const requested = new Map(names.map((name) => [name, cpu(1)]));
  const steps = [...createShares({ tree, total: cpu(1), requested })];
  const quiet = [...createShares({ tree, total: cpu(1), requested: new Map() })];
  expect(steps.length - quiet.length).toBeGreaterThanOrEqual(20);
});
