import { describe, expect, test } from 'vitest';
import { volume } from '#test/build/volume.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { hugeRequests } from './huge-requests.ts';
import { type Judged, judgeRequests, mutatedRequests, mutateRequests } from './judge-requests.ts';
import { requester } from './mutated-requests.ts';
import { type AskedOfPolicies, findPolicyEvaluator } from './policy-evaluator.ts';
import { ruleWorlds, type RuleWorld } from './rule-worlds.ts';

/** `npm run bench -- policy-expressions` judges 100,000. */
const MUTATED = { few: volume(6_000), full: volume(300), given: volume(2_000) } as const;
const SEED = 20_261_122;
/** What all expressions of a policy may spend together: RuntimeCELCostBudget of pkg/apis/cel/config.go. */
const MAX_COST = 10_000_000;
const WITHIN_MS = 600_000;

const program = findPolicyEvaluator(process.env);
const why = program.kind === 'missing' && process.env['CI'] === undefined ? ` (not run: ${program.because})` : '';
const worlds = ruleWorlds(SEED).map((world) => ({
  ...world,
  count: world.isFull ? MUTATED.full : MUTATED.few,
}));

/** An expression that fails lets the object in. */
describe.skipIf(why !== '')(`no expression of ours fails for what a tenant writes${why}`, () => {
  function judge(world: RuleWorld, requests: Iterable<AskedOfPolicies>): Promise<Judged> {
    if (program.kind === 'missing') throw new Error(program.because);
    return judgeRequests(program.paths.policies, world, requests);
  }

  test.each(worlds)(
    `under $name, on $count mutated pods and templates (seed ${SEED})`,
    { timeout: WITHIN_MS },
    async ({ count, ...world }) => {
      const judged = await judge(world, mutatedRequests(world, count, SEED));
      expect([...judged.errors]).toEqual([]);
      expect(judged.requests).toBe(count);
      expect(judged.evaluated).toBeGreaterThan(count / 2);
      expect(judged.denied).toBeGreaterThan(count / 100);
      expect(judged.highestCost).toBeLessThan(MAX_COST);
    },
  );

  test.each(worlds)('under $name, on requests of 3 MiB', { timeout: WITHIN_MS }, async (world) => {
    const huge = Object.values(hugeRequests(requester(randomSource(SEED), world.names)));
    const judged = await judge(world, huge);
    expect([...judged.errors.keys()]).toEqual([]);
    expect(judged).toMatchObject({ requests: huge.length, undecodable: 0, evaluated: huge.length });
    expect(judged.highestCost).toBeLessThan(MAX_COST);
  });

  // The rules are found by the expressions that the other worlds are about.
  test.each(worlds.slice(0, 2).map((world) => ({ ...world, count: Math.min(world.count, MUTATED.given) })))(
    'under $name, when pods are given defaults, on $count mutated requests and on those of 3 MiB',
    { timeout: WITHIN_MS },
    async ({ count, ...world }) => {
      if (program.kind === 'missing') throw new Error(program.because);
      const huge = Object.values(hugeRequests(requester(randomSource(SEED), world.names)));
      const requests = [...mutatedRequests(world, count, SEED), ...huge];
      const judged = await mutateRequests(program.paths.policies, world, requests);
      expect([...judged.errors]).toEqual([]);
      expect(judged.mutated).toBeGreaterThan(count / 100);
      expect(judged.highestCost).toBeLessThan(MAX_COST);
    },
  );
});
