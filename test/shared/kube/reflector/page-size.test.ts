import { describe, expect, test } from 'vitest';
import { createPageSize } from '#shared/kube/reflector/reflector-target.ts';

const MIB = 1024 * 1024;

describe('createPageSize', () => {
  test('asks for as many as it may until it knows how large they are', () => {
    expect(createPageSize(500).next()).toBe(500);
  });

  test.each<[string, number, number, number]>([
    ['small objects', 500, 2 * MIB, 500],
    ['pods of 1.3 MiB', 25, 32.5 * MIB, 6],
    ['objects larger than a page', 1, 20 * MIB, 1],
    ['a page of nothing', 0, 0, 500],
  ])('after %s', (_, items, bytes, next) => {
    const size = createPageSize(500);
    size.read(items, bytes);
    expect(size.next()).toBe(next);
  });

  test('asks for less after a failure, and for one at least', () => {
    const size = createPageSize(500);
    size.failed();
    expect(size.next()).toBe(125);
    for (let failure = 0; failure < 10; failure += 1) size.failed();
    expect(size.next()).toBe(1);
  });

  test('grows again when objects are small after all', () => {
    const size = createPageSize(500);
    size.read(4, 20 * MIB);
    expect(size.next()).toBe(1);
    size.read(1, 6_000);
    expect(size.next()).toBe(500);
  });
});
