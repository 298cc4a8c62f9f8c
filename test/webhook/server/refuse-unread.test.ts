import { describe, expect, test } from 'vitest';
import { createRefusals } from '#webhook/server/refuse-unread.ts';
import { FAILURES } from '#webhook/messages.ts';

const BOUNDS = { maxBytes: 5, limits: { depth: 3, values: 4 } };
const START = { uid: 'u', namespace: 'team-a', username: 'alice' };
const AGENT = { ...START, username: 'system:serviceaccount:plimsoll-node:plimsoll-agent' };
const BUSY = { code: 429, message: 'Too busy' } as const;
const TOO_LARGE = { code: 413, message: 'Too large' } as const;
const NO_JSON = { code: 400, message: 'No JSON' } as const;
const LETTING_IN = ['/mutate', '/validate', '/validate/quota', '/validate/templates'];
const OTHERS = ['/validate/classes', '/validate/evictions', '/validate/deletions'];

describe('a review that cannot be read', () => {
  const refusals = createRefusals('Enforce', BOUNDS);

  test.each(LETTING_IN)('is refused on %s, whatever is wrong with it', (path) => {
    const refused = [TOO_LARGE, NO_JSON, BUSY].map((failure) => refusals.unread(path, START, failure));
    expect(refused).toEqual([
      expect.objectContaining({
        kind: 'refused',
        code: 413,
        because: { code: 'ReviewTooLarge', text: 'Too large', facts: {} },
      }),
      expect.objectContaining({
        kind: 'refused',
        code: 400,
        because: { code: 'MalformedRequest', text: 'No JSON', facts: {} },
      }),
      expect.objectContaining({
        kind: 'refused',
        code: 429,
        retryAfterSeconds: 1,
        because: { code: 'Overloaded', text: 'Too busy; try again', facts: {} },
      }),
    ]);
  });

  test.each(OTHERS)('is left to its failure policy on %s, but has to retry if the webhook is overloaded', (path) => {
    expect([TOO_LARGE, NO_JSON, BUSY].map((failure) => refusals.unread(path, START, failure)?.kind)).toEqual([
      undefined,
      undefined,
      'refused',
    ]);
  });
});

test('an eviction by anyone under limits is answered without a time to wait, as for a budget', () => {
  const refused = createRefusals('Enforce', BOUNDS).unread('/validate/disruption-limits', START, BUSY);
  expect(refused).toMatchObject({ kind: 'refused', code: 429 });
  expect(refused).not.toHaveProperty('retryAfterSeconds');
});

test('a deletion that is only counted is never refused', () => {
  const refusals = createRefusals('Enforce', BOUNDS);
  const decided = [TOO_LARGE, NO_JSON, BUSY].map((failure) =>
    refusals.unread('/validate/limited-deletions', START, failure),
  );
  expect(decided).toEqual([undefined, undefined, undefined]);
});

describe('in a dry run', () => {
  const refusals = createRefusals('DryRun', BOUNDS);

  test('it is allowed with a warning', () => {
    expect(refusals.unread('/mutate', START, TOO_LARGE)).toMatchObject({
      kind: 'allowed',
      warnings: ['(dry run) Too large'],
    });
    expect(refusals.malformed('Nonsense')).toMatchObject({ kind: 'allowed', warnings: ['(dry run) Nonsense'] });
  });

  test('our own accounts, and unknown users, still remove nothing unread', () => {
    const evictedBy = (username: string | undefined) =>
      refusals.unread('/validate/evictions', { ...START, username }, BUSY)?.kind;
    expect([evictedBy(AGENT.username), evictedBy(undefined), evictedBy('alice')]).toEqual([
      'refused',
      'refused',
      'allowed',
    ]);
    expect(refusals.unread('/mutate', AGENT, BUSY)?.kind).toBe('allowed');
  });
});

test('the failure of a body names the limit', () => {
  const refusals = createRefusals('Enforce', BOUNDS);
  expect(
    (['tooLarge', 'values', 'depth', 'tooMany', 'tooSlow'] as const).map((why) => refusals.failureOf(why)),
  ).toEqual([
    { code: 413, message: FAILURES.tooLarge(5).message },
    { code: 413, message: FAILURES.tooManyValues(4).message },
    { code: 400, message: FAILURES.tooDeep(3).message },
    { code: 429, message: FAILURES.tooManyAtOnce().message },
    { code: 429, message: FAILURES.tooSlow().message },
  ]);
  expect(refusals.malformed('Nonsense')).toMatchObject({ kind: 'refused', code: 400 });
});
