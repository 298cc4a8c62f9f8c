import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeUnschedulable, taintToleration } from '#shared/domain/placement/filters/node-filters.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { opennessOf, Pools } from '#shared/decide/queues/open-node.ts';
import { decodeNode } from '#shared/kube/decode/decode-objects.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';
import { valueOf } from '#test/build/value-of.ts';
import { readVectors } from '#test/conformance/read-vectors.ts';
import { at, textAt } from '#test/contract/harness.ts';

const KEYS = [
  'node.kubernetes.io/unschedulable',
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/disk-pressure',
  'node-role.kubernetes.io/control-plane',
  'example.com/gpu',
];
const taint = fc.record({
  key: fc.constantFrom(...KEYS),
  value: fc.constantFrom('', 'a'),
  effect: fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule'),
});
const toleration = fc.record({
  key: fc.constantFrom('', ...KEYS),
  operator: fc.constantFrom('Exists', 'Equal', ''),
  value: fc.constantFrom('', 'a'),
  effect: fc.constantFrom('', 'NoSchedule', 'NoExecute'),
});
const node = fc.record({ isUnschedulable: fc.boolean(), taints: fc.array(taint, { maxLength: 3 }) });

/** Whether the filters of kube-scheduler let the pod on the node, as far as taints and cordons go. */
function passes(entry: NodeEntry, pod: ReturnType<typeof buildPod>): boolean {
  return [nodeUnschedulable, taintToleration].every((filter) => filter(pod)(entry) === undefined);
}

test('a node is open exactly where kube-scheduler takes a pod without tolerations', () => {
  fc.assert(
    fc.property(node, (fields) => {
      const { nodes } = createSnapshot({ nodes: [buildNode({ name: 'n', ...fields })], pods: [] });
      const entry = nodes.get('n') as NodeEntry;
      expect(opennessOf(entry.node) === 'Open').toBe(passes(entry, buildPod({ name: 'p' })));
    }),
    { numRuns: 1_000, seed: 1 },
  );
});

test('a node that an autoscaler empties is closed also to pods that tolerate its taint', () => {
  const taints = ['karpenter.sh/disruption', 'karpenter.sh/disrupted', 'ToBeDeletedByClusterAutoscaler'];
  const nodes = taints.map((key) => buildNode({ name: 'n', taints: [{ key, value: '', effect: 'NoSchedule' }] }));
  expect(nodes.map(opennessOf)).toEqual(['Closed', 'Closed', 'Closed']);
});

/** What kube-scheduler says of the nodes that it refuses to a pod for their taints or because they are cordoned. */
const CLOSED = /(\d+) node\(s\) (?:had untolerated taint|were unschedulable)/g;
/** Nodes that it does not look at. */
const PASSED_OVER = "didn't satisfy plugin(s)";

test.each(['preemption-fit', 'preemption-full'])(
  'as many nodes are open as kube-scheduler itself left to pods without tolerations, in its recorded answers: %s',
  (kind) => {
    const plain = readVectors(kind).filter(
      (each) =>
        at(each, 'pod.spec.tolerations') === undefined && !textAt(each, 'want.unschedulable').includes(PASSED_OVER),
    );
    const [ours, theirs] = [
      plain.map((each) => {
        const nodes = (at(each, 'nodes') as readonly unknown[]).map((raw) => valueOf(decodeNode(raw)));
        return nodes.filter((node) => opennessOf(node) !== 'Open').length;
      }),
      plain.map((each) =>
        [...textAt(each, 'want.unschedulable').matchAll(CLOSED)].reduce((sum, [, count]) => sum + Number(count), 0),
      ),
    ];
    expect(ours).toEqual(theirs);
    expect(theirs.filter((count) => count > 0).length).toBeGreaterThan(100);
  },
);

test('a dedicated node counts only for a pod that kube-scheduler lets on it', () => {
  fc.assert(
    fc.property(node, fc.array(toleration, { maxLength: 3 }), (fields, tolerations) => {
      const pod = buildPod({ name: 'p', scheduling: { tolerations } });
      const snapshot = createSnapshot({ nodes: [buildNode({ name: 'n', ...fields })], pods: [] });
      const entry = snapshot.nodes.get('n') as NodeEntry;
      fc.pre(opennessOf(entry.node) === 'Dedicated');
      const pools = new Pools(() => false, { snapshot, open: [{ unplaced: pod }] as never });
      const isWild = tolerations.some(({ key }) => key === '');
      if (pools.isInUse(entry.node)) expect(passes(entry, pod)).toBe(true);
      else if (!isWild) expect(passes(entry, pod)).toBe(false);
    }),
    { numRuns: 2_000, seed: 1 },
  );
});
