import { describe, expect, test } from 'vitest';
import { usedBy } from '#shared/domain/queue/usage.ts';
import { putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { decodeNode } from '#shared/kube/decode/decode-objects.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { buildNode } from '#test/build/cluster.ts';
import { valueOf } from '#test/build/value-of.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

type World = ReturnType<typeof queueWorld>;
const RUNNING = { admittedTo: 'of-shop', phase: 'Running' };

function change(made: World, name: string, fields: Partial<Node>): void {
  putNode(made.snapshot, { ...buildNode({ name, allocatable: { cpu: '8' } }), ...fields });
}

const used = (plan: QueuePlan) => usedBy(plan.used, plan.directory.tree.indexes.get('of-shop') ?? -1, 'cpu');
const letIn = (plan: QueuePlan) => plan.decision.letIn.map(({ pod }) => pod.name);

describe('a pod on a node that is not ready', () => {
  const LOST = { isUnready: true, unreadySince: 1_000_000 };
  const at = (made: World, now: number) => made.plan(false, 'Guarantees', { now });
  const waiting = { name: 'new', gates: [GATE], cpu: 4 };

  function lost(pod: Partial<WatchedPod> = {}, node: Partial<Node> = LOST): World {
    const made = queueWorld([queueFor('shop', { max: { cpu: 4 } })], { 'node-0': 8, 'node-1': 8 });
    change(made, 'node-1', node);
    made.see({ name: 'old', ...RUNNING, cpu: 4, node: 'node-1', ...pod });
    made.see(waiting);
    return made;
  }

  test('gives its share back after five minutes, and is named', () => {
    const made = lost();
    expect(letIn(at(made, 1_300_000))).toEqual([]);
    const plan = at(made, 1_300_001);
    expect([letIn(plan), used(plan), plan.total.get('cpu')]).toEqual([['shop/new'], 0, 8_000]);
    expect(plan.returned.map(({ pod, queue, because }) => [pod.name, queue, because.code])).toEqual([
      ['old', 'of-shop', 'NodeLost'],
    ]);
  });

  test('counts again when the node is back', () => {
    const made = lost();
    at(made, 1_300_001);
    change(made, 'node-1', {});
    const plan = at(made, 1_300_002);
    expect([letIn(plan), used(plan), plan.returned]).toEqual([[], 4_000, []]);
  });

  test('that was never let in does the same', () => {
    const plan = at(lost({ admittedTo: undefined as never }), 1_300_001);
    expect([letIn(plan), used(plan)]).toEqual([['shop/new'], 0]);
  });

  test.each<[string, Partial<Node>]>([
    ['a node that is only cordoned', { isUnschedulable: true }],
    ['a node that does not say since when', { isUnready: true }],
    ['a node that is not ready for a moment', { isUnready: true, unreadySince: 1_299_000 }],
  ])('keeps it on %s', (_, node) => {
    const plan = at(lost({}, node), 1_300_001);
    expect([letIn(plan), used(plan)]).toEqual([[], 4_000]);
  });

  test('with all nodes lost nothing goes in', () => {
    const made = lost();
    change(made, 'node-0', LOST);
    expect(letIn(at(made, 1_300_001))).toEqual([]);
  });

  test('is named, too, where it does not end, or its node does not exist', () => {
    const made = lost({ deletionAt: 1_000 });
    made.see({ name: 'orphan', ...RUNNING, startedAt: 1, node: 'node-9' });
    const codes = at(made, 1_300_001).returned.map(({ pod, because }) => [pod.name, because.code]);
    expect(codes).toEqual([
      ['old', 'NeverEnds'],
      ['orphan', 'NodeGone'],
    ]);
  });

  test('is named once, for what it is, where it has no node', () => {
    const made = lost({ deletionAt: 1_000 });
    made.see({ name: 'unbound', admittedTo: 'of-shop', deletionAt: 1_000 });
    made.see({ name: 'elsewhere', namespace: 'not-managed', gates: [GATE], deletionAt: 1_000 });
    const codes = at(made, 1_300_001).returned.map(({ pod, because }) => [pod.name, because.code]);
    expect(codes).toEqual([
      ['unbound', 'BeingDeleted'],
      ['old', 'NeverEnds'],
    ]);
  });

  const UNKNOWN = { type: 'Ready', status: 'Unknown' };
  test.each<[string, object, object]>([
    ['its condition', { lastTransitionTime: '1970-01-01T00:16:40Z' }, { timeAdded: '1970-01-01T00:00:01Z' }],
    ['its taint, where the condition has no time', {}, { timeAdded: '1970-01-01T00:16:40Z' }],
  ])('the node says since when: by %s', (_, condition, taint) => {
    const status = { conditions: [{ ...UNKNOWN, ...condition }] };
    const taints = [
      { key: 'example.com/own', effect: 'NoExecute', timeAdded: '1970-01-01T00:00:02Z' },
      { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', ...taint },
    ];
    expect(valueOf(decodeNode({ metadata: { name: 'n' }, spec: { taints }, status }))).toMatchObject(LOST);
  });
});
