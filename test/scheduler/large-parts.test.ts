import { describe, expect, test } from 'vitest';
import { LargeParts, type PartKey } from '#scheduler/large-parts.ts';

const MIB = 1024 * 1024;

function part(key: string, namespace = 'team', length = MIB): PartKey {
  return { key, namespace, length };
}

describe('LargeParts', () => {
  test('a part is made once for all its users, and again after the last of them', () => {
    const parts = new LargeParts<object>();
    const first = parts.take('a', part('x'), () => ({}));
    expect(parts.take('b', part('x'), () => ({}))).toBe(first);
    parts.release('a');
    expect(parts.take('c', part('x'), () => ({}))).toBe(first);
    for (const user of ['b', 'c', 'c']) parts.release(user);
    expect(parts.take('d', part('x'), () => ({}))).not.toBe(first);
  });

  test('a namespace fills its own share only, and users that leave make room', () => {
    const parts = new LargeParts<string>();
    const take = (user: string, namespace: string) => parts.take(user, part(user, namespace), () => user);
    expect(['a', 'b', 'c'].map((user) => take(user, 'team'))).toEqual(['a', 'b', undefined]);
    expect(take('d', 'other')).toBe('d');
    parts.release('a');
    expect(take('c', 'team')).toBe('c');
  });

  test('all namespaces together have a share', () => {
    const parts = new LargeParts<string>();
    const taken = Array.from({ length: 20 }, (_, index) =>
      parts.take(`u${index}`, part(`${index}`, `n${index}`), () => ''),
    );
    expect(taken.filter((value) => value !== undefined)).toHaveLength(16);
  });

  test('a user that takes another part gives back the one that it had', () => {
    const parts = new LargeParts<string>();
    const taken = ['x', 'y', 'z'].map((key) => parts.take('a', part(key), () => key));
    expect(taken).toEqual(['x', 'y', 'z']);
    expect(parts.take('b', part('w'), () => 'w')).toBe('w');
  });
});
