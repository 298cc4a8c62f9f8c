import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CRITICAL_QUOTA_MI, type PlannedPod, planScenario } from '#sandbox/demo/plan-scenario.ts';
import { THRESHOLD_MI } from '#sandbox/node-policy.ts';

const NODE_MI = 1024;
const NODE_MILLI_CPU = 4_000;
/** A demo process without what it holds needs some 10Mi; twice that is never reached. */
const PROCESS_MI = 20;
const anySeed = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('planScenario', () => {
  test('is the same for the same seed', () => {
    fc.assert(
      fc.property(anySeed, (seed) => {
        expect(planScenario(seed)).toEqual(planScenario(seed));
      }),
    );
  });

  test('varies with the seed', () => {
    const plans = Array.from({ length: 50 }, (_, seed) => planScenario(seed));
    expect(new Set(plans.map(({ hog }) => hog.name)).size).toBeGreaterThan(1);
    expect(new Set(plans.map(({ services }) => services.map(({ name }) => name).join())).size).toBeGreaterThan(10);
    expect(new Set(plans.map(({ hog }) => hog.growsMiPerSecond)).size).toBeGreaterThan(10);
  });

  test('services keep to their requests, and all fit on the node with room to grow', () => {
    fc.assert(
      fc.property(anySeed, (seed) => {
        const { services, preemption, hog } = planScenario(seed);
        const jobs = Object.values<PlannedPod>({ ...preemption });
        for (const { holdsMi, requestMi } of [...services, ...jobs])
          expect(holdsMi + PROCESS_MI).toBeLessThan(requestMi);
        const requested = [...services, ...jobs, hog].reduce((sum, { requestMi }) => sum + requestMi, 0);
        expect(requested).toBeLessThan(NODE_MI);
        const used = [...services, ...jobs].reduce((sum, { holdsMi }) => sum + holdsMi + PROCESS_MI, 0);
        expect(NODE_MI - used - hog.requestMi).toBeGreaterThan(THRESHOLD_MI);
      }),
    );
  });

  test('the refused pod is over the quota by itself, and the critical service is within it', () => {
    fc.assert(
      fc.property(anySeed, (seed) => {
        const { services, refused } = planScenario(seed);
        expect(refused.requestMi).toBeGreaterThan(CRITICAL_QUOTA_MI);
        const critical = services.filter(({ priorityClass }) => priorityClass === 'critical');
        expect(critical).toHaveLength(1);
        expect(critical[0]?.requestMi).toBeLessThan(CRITICAL_QUOTA_MI);
      }),
    );
  });

  test('the newcomer fits if either of the two jobs goes, and not before', () => {
    fc.assert(
      fc.property(anySeed, (seed) => {
        const { services, preemption, hog } = planScenario(seed);
        const { optedOut, yielding, newcomer } = preemption;
        const taken = [...services, optedOut, yielding].reduce((sum, { milliCpu }) => sum + milliCpu, 0);
        expect(taken + hog.milliCpu).toBeLessThanOrEqual(NODE_MILLI_CPU);
        expect(taken + newcomer.milliCpu).toBeGreaterThan(NODE_MILLI_CPU);
        expect(newcomer.milliCpu).toBeLessThanOrEqual(Math.min(optedOut.milliCpu, yielding.milliCpu));
      }),
    );
  });

  test('no two pods of a namespace have one name', () => {
    fc.assert(
      fc.property(anySeed, (seed) => {
        const { services, refused, preemption, hog } = planScenario(seed);
        const names = [...services, refused, ...Object.values<PlannedPod>({ ...preemption }), hog].map(
          ({ namespace, name }) => `${namespace}/${name}`,
        );
        expect(new Set(names).size).toBe(names.length);
      }),
    );
  });
});
