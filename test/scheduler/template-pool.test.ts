import { describe, expect, test } from 'vitest';
import { type PodTemplate, TemplatePool } from '#scheduler/compact-pod.ts';

const MIB = 1024 * 1024;

function opened() {
  const pool = new TemplatePool();
  const make = (key: string) => ({ key }) as PodTemplate;
  const take = (key: string, namespace = 'team', length = MIB) => pool.take({ key, namespace, length }, make, make);
  return { pool, take, keyOf: (...args: Parameters<typeof take>) => take(...args).key };
}

describe('TemplatePool', () => {
  test('a template is made once for all its pods, and again after the last of them', () => {
    const { pool, take } = opened();
    const first = take('x');
    expect(take('x')).toBe(first);
    pool.release(first);
    expect(take('x')).toBe(first);
    for (let pods = 0; pods < 2; pods += 1) pool.release(first);
    expect(take('x')).not.toBe(first);
  });

  test('a namespace fills its own share only, and pods that leave make room', () => {
    const { pool, take, keyOf } = opened();
    const first = take('a');
    expect(['b', 'c', 'c'].map((key) => keyOf(key))).toEqual(['b', 'c bare', 'c bare']);
    expect(keyOf('d', 'other')).toBe('d');
    pool.release(first);
    expect(keyOf('e')).toBe('e');
  });

  test('all namespaces together have a share', () => {
    const { keyOf } = opened();
    const keys = Array.from({ length: 20 }, (_, index) => keyOf(`${index}`, `n${index}`));
    expect(keys.filter((key) => !key.endsWith('bare'))).toHaveLength(16);
  });

  test('templates of ordinary size need no share', () => {
    const { keyOf } = opened();
    const keys = Array.from({ length: 10_000 }, (_, index) => keyOf(`${index}`, 'team', 4_096));
    expect(keys.filter((key) => key.endsWith('bare'))).toEqual([]);
  });
});
