import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import type { PriorityClass } from '#shared/domain/priority/priority-class.ts';
import { resolvePriority } from '#shared/domain/priority/resolve-priority.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { decodePriorityClass } from '#shared/kube/decode-priority-class.ts';
import { at, contractHarness, pod } from '#test/contract/harness.ts';
import { clusterObjects, PRIORITY_CLASSES } from './admission/cluster-objects.ts';
import { clusterTarget, hasCluster } from './cluster-target.ts';
import { valueOf } from './value-of.ts';

const RUNS = 300;

/** The in-tree Priority plugin is the judge: every pod is asked of it as a dry run. */
describe.skipIf(!hasCluster())('resolvePriority agrees with the Priority plugin', () => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  const values = [1_000, 0, -5];
  const names: string[] = [];
  let classes: ReadonlyMap<string, PriorityClass>;

  beforeAll(async () => {
    for (const value of values) names.push(await objects.priorityClass('class', value));
    names.push(await objects.priorityClass('never', 1_000, { preemptionPolicy: 'Never' }));
    const items = at((await api.get(PRIORITY_CLASSES)).body, 'items') as readonly unknown[];
    classes = new Map(items.map((item) => valueOf(decodePriorityClass(item))).map((each) => [each.name, each]));
  });

  test(`on ${RUNS} random pods`, async () => {
    const spec = fc.record(
      {
        priorityClassName: fc.constantFrom(...names, 'missing', 'system-node-critical'),
        priority: fc.constantFrom(...values, 7, 2_000_001_000),
        preemptionPolicy: fc.constantFrom('Never', 'PreemptLowerPriority'),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(spec, async (chosen) => {
        const raw = pod('random', chosen);
        const ours = resolvePriority(valueOf(decodePod(raw)), classes);
        const { status, body } = await api.post(api.core('pods'), raw, { query: { dryRun: 'All' } });
        if (ours.kind === 'resolved') {
          expect([status, at(body, 'message')]).toEqual([201, undefined]);
          expect({
            priorityClassName: at(body, 'spec.priorityClassName') ?? '',
            priority: at(body, 'spec.priority'),
            preemptionPolicy: at(body, 'spec.preemptionPolicy') ?? 'PreemptLowerPriority',
          }).toEqual({
            priorityClassName: ours.priorityClassName,
            priority: ours.priority,
            preemptionPolicy: ours.preemptionPolicy ?? 'PreemptLowerPriority',
          });
        } else {
          expect([status, at(body, 'message')]).toEqual([ours.code, ours.message]);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
