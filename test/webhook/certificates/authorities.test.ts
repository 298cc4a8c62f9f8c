import { describe, expect, test } from 'vitest';
import {
  bundleOf,
  planAuthorities,
  promoted,
  type Authorities,
  type AuthorityView,
} from '#webhook/certificates/authority-store.ts';

const DAY = 86_400_000;
const NOW = 1_000 * DAY;

function pair(name: string, daysLeft: number) {
  return { certPem: `${name}\n`, keyPem: '', notAfter: NOW + daysLeft * DAY };
}

function authorities(more: Partial<Authorities> = {}): Authorities {
  return { current: pair('current', 300), next: undefined, previousPem: '', ...more };
}

describe('planAuthorities', () => {
  const cases: Record<string, { stored: Authorities | undefined; view?: Partial<AuthorityView>; plan: string }> = {
    'makes the first authority': { stored: undefined, plan: 'make' },
    'makes another in place of one that has ended': { stored: authorities({ current: pair('c', 0) }), plan: 'make' },
    'keeps a young one': { stored: authorities(), plan: 'keep' },
    'announces the next when two thirds of its life are over': {
      stored: authorities({ current: pair('c', 121) }),
      plan: 'announce',
    },
    'waits while the next is not trusted everywhere': { stored: authorities({ next: pair('n', 365) }), plan: 'keep' },
    'waits for the overlap': {
      stored: authorities({ next: pair('n', 365) }),
      view: { nextTrustedSince: NOW - 59_000 },
      plan: 'keep',
    },
    'waits for an administrator to register the next CA until five sixths of its life are over': {
      stored: authorities({ current: pair('c', 62), next: pair('n', 365) }),
      view: { isRegistered: false },
      plan: 'keep',
    },
    'then promotes it without having seen that it is trusted': {
      stored: authorities({ current: pair('c', 60), next: pair('n', 365) }),
      view: { isRegistered: false },
      plan: 'promote',
    },
    'promotes the next once it has been trusted for the overlap': {
      stored: authorities({ next: pair('n', 365) }),
      view: { nextTrustedSince: NOW - 60_000 },
      plan: 'promote',
    },
  };
  test.each(Object.entries(cases))('%s', (_, { stored, view, plan }) => {
    const seen = {
      now: NOW,
      lifeMs: 365 * DAY,
      nextTrustedSince: undefined,
      overlapMs: 60_000,
      isRegistered: true,
      ...view,
    };
    expect(planAuthorities(stored, seen)).toEqual({ kind: plan });
  });
});

test('a promotion takes nothing out of the bundle', () => {
  const before = authorities({ next: pair('next', 365) });
  const after = promoted(before);
  expect(after && bundleOf(after).split('\n').sort()).toEqual(bundleOf(before).split('\n').sort());
});
