import { describe, expect, test } from 'vitest';
import { amountsOf } from '#test/build/cluster.ts';
import { isSeen } from '#shared/domain/quota/ledger/ledger-state.ts';
import { countOf } from '#test/build/pod-count.ts';

const HARD = amountsOf({ pods: '10', memory: '4Gi' });

function pod(uid: string, namespace: string, amounts: Record<string, string>) {
  return { uid, namespace, amounts: amountsOf(amounts) };
}

describe('isSeen', () => {
  test.each<[string, { uid: string; generation?: number }, boolean]>([
    ['a pod that is there', { uid: 'web' }, true],
    ['a pod that is not', { uid: 'other' }, false],
    ['a resize that made the generation that is there', { uid: 'web.request', generation: 4 }, true],
    ['a resize that an earlier one overtook', { uid: 'web.request', generation: 3 }, true],
    ['a resize that is not stored yet', { uid: 'web.request', generation: 5 }, false],
    ['a resize of which no generation is known', { uid: 'web.request' }, false],
    ['a resize of a pod without generations', { uid: 'unnumbered.request', generation: 2 }, false],
    ['a resize of a pod that is gone', { uid: 'other.request', generation: 2 }, false],
    ['the first change of a pod that is gone', { uid: 'other.request', generation: 1 }, false],
  ])('%s', (_, reservation, expected) => {
    const count = countOf(HARD, [{ ...pod('web', 'a', {}), generation: 4 }, pod('unnumbered', 'a', {})]);
    expect(isSeen(count, reservation)).toBe(expected);
  });
});
