import { ESLint, Linter } from 'eslint';
import { describe, expect, test } from 'vitest';

const RULE = 'no-restricted-syntax';

/** How many violations of the rule that lint has for this file. */
async function violations(file: string, code: string): Promise<number> {
  const { rules } = (await new ESLint().calculateConfigForFile(file)) as { rules: Linter.RulesRecord };
  return new Linter().verify(code, { rules: { [RULE]: rules[RULE] ?? 'off' } }).length;
}

describe('lint of waiting and seeds', () => {
  test.each([
    ['a timer that paces', 'await new Promise((resolve) => setTimeout(resolve, 100));'],
    ['a sleep of the system clock', 'await systemClock.sleep(PAUSE_MS);'],
    ['timers as promises', "import { setTimeout as rest } from 'node:timers/promises';"],
    ['another way to poll', 'await vi.waitFor(() => check());'],
    ['one more', 'await expect.poll(() => found).toBe(1);'],
    ['time without a name', "await letTimePass(100, 'unseen');"],
    ['a seed of the moment', 'fc.assert(law, { numRuns: 10, seed: Date.now() });'],
    ['a random seed with a name', 'const SEED = Math.floor(Math.random() * 100);'],
    ['another seed for all properties', 'fc.configureGlobal({ seed: 7 });'],
    ['no seed for all properties', 'fc.resetConfigureGlobal();'],
  ])('a test is refused %s', async (_, code) => {
    expect(await violations('test/agent/agent.test.ts', code)).toBe(1);
  });

  test.each([
    ['a wait for a state', 'test/agent/agent.test.ts', 'await eventually(() => check());'],
    ['a seed in the file', 'test/agent/agent.test.ts', 'const SEED = 7; fc.assert(law, { seed: SEED });'],
    ['a sleep by a manual clock', 'test/agent/agent.test.ts', 'await manual.sleep(100);'],
    ['the sleep of the helper', 'test/build/waiting.ts', 'await systemClock.sleep(pauseMs);'],
  ])('allowed: %s', async (_, file, code) => {
    expect(await violations(file, code)).toBe(0);
  });
});
