import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ViteUserConfig } from 'vitest/config';
import { testSeed } from '#test/fakes/jitter.ts';

/** What a property is tried on. */
function draws(): readonly number[] {
  const drawn: number[] = [];
  fc.assert(fc.property(fc.nat(), (value) => void drawn.push(value)));
  return drawn;
}

describe('properties without a seed of their own', () => {
  test('draw the same cases again', () => {
    expect(draws()).toEqual(draws());
  });

  test('and so do samples', () => {
    const seed = testSeed(process.env);
    expect(fc.sample(fc.nat())).toEqual(fc.sample(fc.nat(), { seed }));
  });

  test('name the seed where one fails', () => {
    const seed = testSeed(process.env);
    expect(() => fc.assert(fc.property(fc.nat(), () => false))).toThrow(`seed: ${seed}, path:`);
  });
});

describe('the seed is set before the tests of every project', () => {
  test.each(['vitest.config.ts', 'test/cluster/vitest.config.ts'])('%s', async (file) => {
    const { default: config } = (await import(resolve(file))) as { readonly default: ViteUserConfig };
    const projects = (config.test?.projects ?? []) as readonly ViteUserConfig[];
    const setUps = projects.flatMap(({ test: options }) => options?.setupFiles ?? []).map((path) => resolve(path));
    expect(projects.length).toBeGreaterThan(0);
    expect(setUps.filter((path) => path === resolve('test/build/property-seed.ts'))).toHaveLength(projects.length);
  });
});

describe('PLIMSOLL_TEST_SEED', () => {
  test('asks for another seed', () => {
    expect(testSeed({ PLIMSOLL_TEST_SEED: '-7' })).toBe(-7);
    expect(testSeed({})).not.toBe(-7);
  });

  test.each(['', ' ', 'today', '1.5', '4294967296'])('"%s" is refused', (text) => {
    const message = `cannot use PLIMSOLL_TEST_SEED "${text}": expected a 32-bit integer`;
    expect(() => testSeed({ PLIMSOLL_TEST_SEED: text })).toThrow(message);
  });
});
