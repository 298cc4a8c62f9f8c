import { describe, expect, test } from 'vitest';
import { ownerWishes } from '#shared/kube/annotations/annotations.ts';

const OURS = 'plimsoll.dev/allow-preemption';
const YUNIKORN = 'yunikorn.apache.org/allow-preemption';

interface Case {
  readonly pod?: Readonly<Record<string, string>>;
  readonly ofClass?: Readonly<Record<string, string>>;
  readonly mayBePreempted: boolean;
}

describe('ownerWishes', () => {
  const cases: Record<string, Case> = {
    'neither says anything': { mayBePreempted: true },
    'the pod alone says no, which any tenant can': { pod: { [OURS]: 'false' }, mayBePreempted: true },
    'the pod alone says no in YuniKorn’s word': { pod: { [YUNIKORN]: 'false' }, mayBePreempted: true },
    'the class leaves it to the pod, which says no': {
      pod: { [OURS]: 'false' },
      ofClass: { [OURS]: 'by-pod' },
      mayBePreempted: false,
    },
    'the class leaves it to the pod, which says no in YuniKorn’s word': {
      pod: { [YUNIKORN]: 'false' },
      ofClass: { [OURS]: 'by-pod' },
      mayBePreempted: false,
    },
    'the class leaves it to the pod, which says nothing': { ofClass: { [OURS]: 'by-pod' }, mayBePreempted: true },
    'the class says what cannot be read, the pod no': {
      pod: { [OURS]: 'false' },
      ofClass: { [OURS]: 'maybe' },
      mayBePreempted: true,
    },
    'the class says no': { ofClass: { [OURS]: 'false' }, mayBePreempted: false },
    'the class says no in YuniKorn’s word': { ofClass: { [YUNIKORN]: 'false' }, mayBePreempted: false },
    'our word contradicts YuniKorn’s': { ofClass: { [OURS]: 'true', [YUNIKORN]: 'false' }, mayBePreempted: true },
    'the class says no, the pod yes': { pod: { [OURS]: 'true' }, ofClass: { [OURS]: 'false' }, mayBePreempted: true },
    'the class says yes, the pod no': { pod: { [OURS]: 'false' }, ofClass: { [OURS]: 'true' }, mayBePreempted: true },
    'the word cannot be read': { pod: { [OURS]: 'no' }, mayBePreempted: true },
  };
  test.each(Object.entries(cases))('%s', (_, { pod = {}, ofClass = {}, mayBePreempted }) => {
    const wishes = ownerWishes(new Map(Object.entries(pod)), new Map(Object.entries(ofClass)));
    expect(wishes).toEqual({ mayBeEvicted: true, mayBePreempted });
  });

  test('only the exact word never asks not to be evicted', () => {
    const wish = (word: string) => ownerWishes(new Map([['plimsoll.dev/evict', word]])).mayBeEvicted;
    expect(['never', 'last', 'Never', ''].map(wish)).toEqual([false, true, true, true]);
  });
});
