import { describe, expect, test } from 'vitest';
import { backoffDelay } from '#shared/runtime/repeat.ts';

describe('backoffDelay', () => {
  const backoff = { initialMs: 100, maxMs: 1_000, factor: 2, jitter: 0.5 };
  const cases: Record<string, { attempt: number; random: number; delay: number }> = {
    'starts at the initial delay': { attempt: 0, random: 0, delay: 100 },
    'grows by the factor': { attempt: 2, random: 0, delay: 400 },
    'stops at the maximum': { attempt: 9, random: 0, delay: 1_000 },
    'takes at most the share of jitter away': { attempt: 0, random: 1, delay: 50 },
    'survives a thousand failures': { attempt: 1_000, random: 0, delay: 1_000 },
    'survives an infinite power': { attempt: 5_000, random: 0.5, delay: 750 },
  };
  test.each(Object.entries(cases))('%s', (_, { attempt, random, delay }) => {
    expect(backoffDelay(backoff, attempt, random)).toBe(delay);
  });
});
