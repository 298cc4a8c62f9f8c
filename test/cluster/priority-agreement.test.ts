import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { PriorityClass } from '#shared/domain/priority/priority-class.ts';
import { resolvePriority } from '#shared/domain/priority/resolve-priority.ts';
import type { ClusterConnection } from '#shared/kube/connection.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { decodePriorityClass } from '#shared/kube/decode-priority-class.ts';
import type { Decoded } from '#shared/kube/decoded.ts';
import { kubeconfigConnection } from '#shared/kube/kubeconfig-connection.ts';
import { at, contractHarness, pod, uniqueName } from '#test/contract/harness.ts';

const kubeconfig = inject('kubeconfig');
const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const RUNS = 300;

/** The in-tree Priority plugin is the judge: every pod is asked of it as a dry run. */
describe.skipIf(kubeconfig === '')('resolvePriority agrees with the Priority plugin', () => {
  const found: { connection?: ClusterConnection } = {};
  beforeAll(async () => {
    found.connection = await kubeconfigConnection(kubeconfig);
  });
  const api = contractHarness(() => ({ kind: 'real', connection: found.connection ?? { server: '' } }));
  const names = ['high', 'never', 'zero', 'negative'].map(uniqueName);
  const values = [1_000, 1_000, 0, -5];
  let classes: ReadonlyMap<string, PriorityClass>;

  beforeAll(async () => {
    for (const [index, name] of names.entries()) {
      const preemptionPolicy = name.startsWith('never') ? 'Never' : undefined;
      await api.post(CLASSES, { metadata: { name }, value: values[index], preemptionPolicy });
    }
    const items = at((await api.get(CLASSES)).body, 'items') as readonly unknown[];
    classes = new Map(items.map((item) => valueOf(decodePriorityClass(item))).map((each) => [each.name, each]));
  });
  afterAll(async () => {
    for (const name of names) await api.remove(`${CLASSES}/${name}`);
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

function valueOf<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Error(`${decoded.field}: ${decoded.message}`);
  return decoded.value;
}
