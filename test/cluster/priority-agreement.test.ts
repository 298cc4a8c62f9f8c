import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type PriorityClass, resolvePriority } from '#shared/domain/priority/classes-and-policies.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodePriorityClass } from '#shared/kube/decode/decode-objects.ts';
import { at, contractHarness, pod } from '#test/contract/harness.ts';
import { clusterObjects, PRIORITY_CLASSES } from './admission/support/cluster-objects.ts';
import { clusterTarget, hasCluster } from './support/control-plane/cluster-target.ts';
import { valueOf } from '#test/build/value-of.ts';
import { eventually } from '#test/build/waiting.ts';

const RUNS = 300;
const DEFAULT_VALUE = 77;

/** The in-tree Priority plugin is the judge: every pod is asked of it as a dry run. */
describe.skipIf(!hasCluster()).each([
  ['without a global default', undefined],
  ['with a global default', { globalDefault: true }],
  ['with a global default that never preempts', { globalDefault: true, preemptionPolicy: 'Never' }],
])('resolvePriority agrees with the Priority plugin, %s,', (_, globalDefault) => {
  const api = contractHarness(clusterTarget());
  const objects = clusterObjects(api);
  const values = [1_000, 0, -5];
  const names: string[] = [];
  let classes: ReadonlyMap<string, PriorityClass>;

  async function asked(raw: object) {
    return api.post(api.core('pods'), raw, { query: { dryRun: 'All' } });
  }

  beforeAll(async () => {
    for (const value of values) names.push(await objects.priorityClass('class', value));
    names.push(await objects.priorityClass('never', 1_000, { preemptionPolicy: 'Never' }));
    if (globalDefault !== undefined) names.push(await objects.priorityClass('usual', DEFAULT_VALUE, globalDefault));
    const items = at((await api.get(PRIORITY_CLASSES)).body, 'items') as readonly unknown[];
    classes = new Map(items.map((item) => valueOf(decodePriorityClass(item))).map((each) => [each.name, each]));
    // The plugin learns of a class by a watch of its own.
    const expected = globalDefault === undefined ? 0 : DEFAULT_VALUE;
    await eventually(async () => expect(at((await asked(pod('plain'))).body, 'spec.priority')).toBe(expected));
  });

  test(`on ${RUNS} random pods`, async () => {
    const spec = fc.record(
      {
        priorityClassName: fc.constantFrom(...names, 'missing', 'system-node-critical', ''),
        priority: fc.constantFrom(...values, DEFAULT_VALUE, 7, 2_000_001_000),
        preemptionPolicy: fc.constantFrom('Never', 'PreemptLowerPriority'),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(spec, async (chosen) => {
        const raw = pod('random', chosen);
        const ours = resolvePriority(valueOf(decodePod(raw)), classes);
        const { status, body } = await asked(raw);
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
