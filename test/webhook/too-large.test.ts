import { describe, expect, test } from 'vitest';
import { judgeTooLarge, uidOfBeginning } from '#webhook/too-large.ts';
import { createPodReview, pod } from './reviews.ts';

describe('judgeTooLarge', () => {
  test('refuses on every path that lets something in', () => {
    for (const path of ['/mutate', '/validate', '/validate/quota', '/validate/templates']) {
      expect(judgeTooLarge('Enforce')(path, 'at most 5 bytes')).toEqual({
        kind: 'refused',
        code: 413,
        because: { code: 'ReviewTooLarge', text: 'at most 5 bytes', facts: {} },
        warnings: [],
      });
    }
  });

  test('in a dry run it only warns', () => {
    expect(judgeTooLarge('DryRun')('/mutate', 'at most 5 bytes')).toMatchObject({
      kind: 'allowed',
      warnings: ['(dry run) at most 5 bytes'],
    });
  });

  test.each(['/validate/evictions', '/validate/deletions', '/validate/classes'])(
    'leaves %s to its failure policy',
    (path) => {
      expect(judgeTooLarge('Enforce')(path, '')).toBeUndefined();
    },
  );
});

describe('uidOfBeginning', () => {
  const review = (uid: unknown): string => createPodReview(pod(), { uid });
  const cases: Record<string, { text: string; uid: string | undefined }> = {
    'as the API server writes it': { text: review('a-b'), uid: 'a-b' },
    'cut off after it': { text: review('a-b').slice(0, 90), uid: 'a-b' },
    'no text': { text: review(5), uid: undefined },
    'too long': { text: review('u'.repeat(129)), uid: undefined },
    escaped: { text: review('a"b'), uid: undefined },
    'not at the beginning': { text: ` ${review('a-b')}`, uid: undefined },
    'no review': { text: '{"kind":"Pod"}', uid: undefined },
    nothing: { text: '', uid: undefined },
  };
  test.each(Object.entries(cases))('%s', (_, { text, uid }) => {
    expect(uidOfBeginning(Buffer.from(text))).toBe(uid);
  });
});
