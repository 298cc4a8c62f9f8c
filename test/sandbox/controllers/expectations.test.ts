import { expect, test } from 'vitest';
import { createExpectations } from '#sandbox/controllers/write.ts';

test('an owner waits until what it made is seen', () => {
  const expectations = createExpectations(() => 0);
  expectations.created('owner', 'pod');
  expect(expectations.isWaiting('owner', () => false)).toBe(true);
  expect(expectations.isWaiting('owner', (uid) => uid === 'pod')).toBe(false);
  expect(expectations.isWaiting('other', () => false)).toBe(false);
});

test('what is never seen is forgotten after five seconds', () => {
  let now = 0;
  const expectations = createExpectations(() => now);
  expectations.created('owner', 'pod');
  now = 4_999;
  expect(expectations.isWaiting('owner', () => false)).toBe(true);
  now = 5_000;
  expect(expectations.isWaiting('owner', () => false)).toBe(false);
});

test('refusals make the pauses grow up to a minute, and a success makes up for them', () => {
  let now = 0;
  const expectations = createExpectations(() => now);
  const pauses: number[] = [];
  for (let refusal = 0; refusal < 8; refusal += 1) {
    const refusedAt = now;
    expectations.refused('owner');
    while (expectations.isWaiting('owner', () => false)) now += 500;
    pauses.push((now - refusedAt) / 1000);
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expectations.created('owner', 'pod');
  expectations.refused('owner');
  now += 1_000;
  expect(expectations.isWaiting('owner', () => true)).toBe(false);
});
