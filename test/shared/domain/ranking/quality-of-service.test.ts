import fc from 'fast-check';
import { expect, test } from 'vitest';
import { qosClass } from '#shared/domain/pod/pod-requests.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { kubeletOrder, policyOrder } from '#shared/domain/ranking/ranking-order.ts';
import { candidate, names, pod, usage } from './builders.ts';

type Amounts = Readonly<Record<string, string>>;

interface Someone {
  readonly uid: string;
  readonly priority: number;
  readonly memory: string | undefined;
  readonly used: number;
}

const SOMEONE = fc.record<Someone>({
  uid: fc.uuid(),
  priority: fc.constantFrom(0, 100, 1_000),
  memory: fc.constantFrom(undefined, '64Mi', '1Gi'),
  used: fc.constantFrom(1, 2 ** 26, 2 ** 31),
});
const PRESETS = ['Kubernetes', 'ShareOfRequest'] as const;
const ORDERS = [
  kubeletOrder('memory'),
  ...PRESETS.map((ranking) => policyOrder({ ranking, missingStats: 'Last', daemonSets: 'Rank' }, 'memory')),
];

/** The same pod in two classes: without a request of memory BestEffort and Burstable, with one Burstable and Guaranteed. */
function inBothClasses({ uid, priority, memory }: Someone): readonly [Pod, Pod] {
  const cpu = { cpu: '1' };
  const built = (requests: Amounts, limits: Amounts): Pod =>
    pod(uid, { priority, spec: { priority, containers: [{ name: 'c', resources: { requests, limits } }] } });
  if (memory === undefined) return [built({}, {}), built(cpu, {})];
  const both = { ...cpu, memory };
  return [built(both, {}), built(both, both)];
}

test('the QoS class of a pod changes nothing about its place (S1-27)', () => {
  const crowds = fc.uniqueArray(SOMEONE, { selector: ({ uid }) => uid, minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(crowds, fc.constantFrom(...ORDERS), fc.infiniteStream(fc.boolean()), (crowd, order, random) => {
      const pairs = crowd.map(inBothClasses);
      for (const [one, other] of pairs) expect(qosClass(one)).not.toBe(qosClass(other));
      const choices = [...random.take(crowd.length)];
      const ranked = (choose: (index: number) => 0 | 1) =>
        names(
          rankPods(
            pairs.map((pair, index) => candidate(pair[choose(index)], usage({ memoryBytes: crowd[index]?.used ?? 0 }))),
            order,
          ),
        );
      expect(ranked((index) => (choices[index] === true ? 1 : 0))).toEqual(ranked(() => 0));
    }),
  );
});
