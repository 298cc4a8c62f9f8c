import { describe, expect, test } from 'vitest';
import { createCounterWindow } from '#agent/observe/source/counter-window.ts';

describe('createCounterWindow', () => {
  test('has no rate before the window is full', () => {
    const window = createCounterWindow(10_000);
    for (let at = 0; at < 10_000; at += 1000) window.add(at, at);
    expect(window.rate()).toBeUndefined();
    window.add(10_000, 10_000);
    expect(window.rate()).toBe(1);
  });

  test('is the growth over the window, not since the start', () => {
    const window = createCounterWindow(10_000);
    for (let at = 0; at <= 20_000; at += 1000) window.add(at <= 10_000 ? 0 : (at - 10_000) / 2, at);
    expect(window.rate()).toBe(0.5);
  });

  test('fast feeding keeps a bounded number of samples and the same answer', () => {
    const window = createCounterWindow(10_000);
    for (let at = 0; at <= 60_000; at += 10) window.add(at / 4, at);
    expect(window.rate()).toBeCloseTo(0.25, 10);
  });

  test('a counter that went backwards is a new counter', () => {
    const window = createCounterWindow(2000);
    for (const at of [0, 1000, 2000]) window.add(at, at);
    window.add(5, 3000);
    expect(window.rate()).toBeUndefined();
  });

  test('a pause of more than half the window drops what was before it', () => {
    const window = createCounterWindow(2000);
    for (const at of [0, 1000, 2000]) window.add(at, at);
    window.add(3001, 3001);
    window.add(4001, 4001);
    expect(window.rate()).toBeUndefined();
    window.add(5001, 5001);
    expect(window.rate()).toBe(1);
  });

  test('an unknown value leaves the window as it was', () => {
    const window = createCounterWindow(1000);
    for (const at of [0, 500, 1000]) window.add(at, at);
    window.add(Number.NaN, 1500);
    expect(window.rate()).toBe(1);
  });
});
