import { describe, expect, test } from 'vitest';
import { createUidMemory } from '#webhook/server/review-listener.ts';

describe('createUidMemory', () => {
  test('detects a uid that is reused with other content, and nothing else', () => {
    const memory = createUidMemory();
    const seen = [
      memory.isReused('a', 1),
      memory.isReused('b', 1),
      memory.isReused('a', 1),
      memory.isReused('a', 2),
      memory.isReused('a', 1),
    ];
    expect(seen).toEqual([false, false, false, true, true]);
  });

  test('forgets after one to two generations', () => {
    const memory = createUidMemory(10);
    memory.isReused('first', 1);
    for (let count = 0; count < 10; count += 1) memory.isReused(`u${count}`, 1);
    expect(memory.isReused('first', 2)).toBe(true);
    for (let count = 0; count < 20; count += 1) memory.isReused(`v${count}`, 1);
    expect(memory.isReused('first', 3)).toBe(false);
  });
});
