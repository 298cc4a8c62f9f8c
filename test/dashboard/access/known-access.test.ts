import { describe, expect, test } from 'vitest';
import type { User } from '#shared/kube/access/reviews.ts';
import { createKnownAccess } from '#dashboard/access/viewer.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

const JANE: User = { username: 'jane', groups: ['dev'], extra: {} };

function knownAccess(most?: number) {
  const clock = manualClock();
  const asked: string[] = [];
  let answer: boolean | undefined = true;
  const ask = ({ username, groups }: User, namespace: string): Promise<boolean | undefined> => {
    asked.push(`${username} ${groups.join()} ${namespace}`);
    return Promise.resolve(answer);
  };
  const known = createKnownAccess({ clock, ask, ...(most !== undefined && { most }) });
  return { clock, asked, known, answerWith: (next: boolean | undefined) => (answer = next) };
}

describe('createKnownAccess', () => {
  test('asks once a minute for each user and namespace', async () => {
    const { asked, clock, known } = knownAccess();
    const ask = async () => [await known(JANE)('a'), await known({ ...JANE })('a')];
    expect(await ask()).toEqual([true, true]);
    await clock.advance(59_999);
    await ask();
    expect(asked).toEqual(['jane dev a']);
    await clock.advance(1);
    await ask();
    expect(asked).toEqual(['jane dev a', 'jane dev a']);
  });

  test('a question under way is not asked twice', async () => {
    const { asked, known } = knownAccess();
    expect(await Promise.all([known(JANE)('a'), known(JANE)('a')])).toEqual([true, true]);
    expect(asked).toEqual(['jane dev a']);
  });

  test('a user with other groups is another user', async () => {
    const { asked, known, answerWith } = knownAccess();
    await known({ ...JANE, groups: ['ops'] })('a');
    answerWith(false);
    expect(await known(JANE)('a')).toBe(false);
    expect(asked).toEqual(['jane ops a', 'jane dev a']);
  });

  test('a question without an answer is asked again', async () => {
    const { asked, known, answerWith } = knownAccess();
    answerWith(undefined);
    expect(await known(JANE)('a')).toBeUndefined();
    answerWith(true);
    expect(await known(JANE)('a')).toBe(true);
    expect(asked).toHaveLength(2);
  });

  test('forgets the oldest of more answers than it keeps', async () => {
    const { asked, known } = knownAccess(2);
    for (const namespace of ['a', 'b', 'c', 'c', 'b', 'a']) await known(JANE)(namespace);
    expect(asked).toEqual(['jane dev a', 'jane dev b', 'jane dev c', 'jane dev a']);
  });
});
