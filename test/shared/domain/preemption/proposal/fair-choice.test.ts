import { expect, test } from 'vitest';
import { half, review, STAYS } from './review-case.ts';

const NOW = 1_000_000;
const DISRUPTED: Readonly<Record<string, number>> = { left: NOW - 60_000, right: NOW - 3_600_000 };

function ownedBy(owner: string) {
  return { owners: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, isController: true }] };
}

/** The scheduler proposes a protected pod; two others of one priority would each make as much room. */
function substituteOf(rules: NonNullable<Parameters<typeof review>[0]['rules']>, priorities = [0, 0]) {
  const [left = 0, right = 0] = priorities;
  const pods = [
    half('stays', STAYS),
    half('a', { ...ownedBy('left'), priority: left }),
    half('b', { ...ownedBy('right'), priority: right }),
    half('c', { ...ownedBy('left'), priority: left }),
  ];
  return review({ pods, proposed: ['stays'], rules, now: NOW, incoming: { requests: { cpu: '500m' } } });
}

const ownerDisruptedAt = (owner: string): number | undefined => DISRUPTED[owner];

test('of equal substitutes the one goes whose owner was disrupted longest ago (S3-8)', () => {
  expect(substituteOf({ ownerDisruptedAt })).toEqual([['changed', ['b'], 0]]);
});

test('an owner that was never disrupted goes before all others', () => {
  expect(substituteOf({ ownerDisruptedAt: (owner) => (owner === 'left' ? undefined : NOW) })).toEqual([
    ['changed', [expect.stringMatching(/^[ac]$/)], 0],
  ]);
});

test('a lower priority goes first, whoever was disrupted last', () => {
  expect(substituteOf({ ownerDisruptedAt }, [0, 5])).toEqual([['changed', [expect.stringMatching(/^[ac]$/)], 0]]);
});
