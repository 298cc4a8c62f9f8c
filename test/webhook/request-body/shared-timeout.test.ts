import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSharedTimeout } from '#webhook/request-body/fair-queue.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => vi.useRealTimers());

test('each timeout ends after the same time, unless it is cancelled', () => {
  const deadline = createSharedTimeout(100);
  const late: string[] = [];
  deadline.add(() => late.push('first'));
  const prevent = deadline.add(() => late.push('prevented'));
  vi.advanceTimersByTime(60);
  deadline.add(() => late.push('second'));
  prevent();
  vi.advanceTimersByTime(41);
  expect(late).toEqual(['first']);
  vi.advanceTimersByTime(60);
  expect(late).toEqual(['first', 'second']);
  vi.advanceTimersByTime(1_000);
  deadline.add(() => late.push('third'));
  vi.advanceTimersByTime(101);
  expect(late).toEqual(['first', 'second', 'third']);
});

test('one timer serves all of them', () => {
  const deadline = createSharedTimeout(100);
  const prevents = Array.from({ length: 1_000 }, () => deadline.add(() => undefined));
  expect(vi.getTimerCount()).toBe(1);
  for (const prevent of prevents) prevent();
  vi.advanceTimersByTime(101);
  expect(vi.getTimerCount()).toBe(0);
});
