import { expect, test } from 'vitest';
import { CountedPods } from '#bench/webhook/counting/counted-pods.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { amountsOf, selectorOf, PLAIN_QUOTA } from '#test/build/cluster.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';

const QUOTA = {
  name: 'q',
  namespaces: prepareSelector(selectorOf({})),
  scope: { kind: 'range', min: 0, max: 0 },
  hard: amountsOf({ pods: '100' }),
  ...PLAIN_QUOTA,
} as const;

// A counter processes a hundred namespaces at a time.
test('pods of more namespaces than a counter processes at once are counted from the start', () => {
  const cost = amountsOf({ pods: '1' });
  const pods = new CountedPods(QUOTA, { pods: 500, namespaces: 250, cost });
  const counted = (): readonly string[] => Array.from(pods.count().total.values(), formatQuantity);
  expect(counted()).toEqual(['500']);
  const pod = { uid: 'new', namespace: 'team-7', pod: 'new' };
  pods.appear(pod);
  expect(counted()).toEqual(['501']);
  pods.disappear(pod);
  expect(counted()).toEqual(['500']);
});
