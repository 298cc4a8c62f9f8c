import { larger, minus, plus, smaller, times, type Whole } from '#shared/domain/quantity/whole.ts';
import { pathOf } from '#shared/domain/queue/queue-tree.ts';
import { addAmounts } from '#shared/domain/queue/usage.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { allocatableOf } from '#shared/decide/queues/node-room.ts';
import { encodeAdmitted } from '#shared/api/admitted.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { fieldsIf } from './choices.ts';
import { firstDifference, planText, roomSteps } from './queue-laws.ts';
import type { WildCluster } from './wild-cluster.ts';
import { lyingNode } from './wild-nodes.ts';
import { WildView } from './wild-view.ts';

/** What one more claim of a tenant or of a node takes from the queues of others beyond its bound. */
export function claimFaults(cluster: WildCluster): readonly string[] {
  return [...worthlessClaims(cluster), ...claimsOnNode(cluster), ...waitingClaims(cluster), ...lies(cluster)];
}

/** Nothing changes by pods that are on no node, or with a mark that any tenant can write. */
function worthlessClaims(cluster: WildCluster): readonly string[] {
  const before = textOf(cluster);
  const claims: Readonly<Record<string, KubeObject>> = {
    'a pod outside on no node': claim({ namespace: 'outside', node: 'no-such-node' }),
    'a pod outside with a mark': claim({ namespace: 'outside', isMarked: true }),
    'a pod outside with a mark, on no node': claim({ namespace: 'outside', isMarked: true, node: 'no-such-node' }),
    'a pod of a queue on no node': claim({ namespace: 'team-a', node: 'no-such-node' }),
    'a mirror pod with a mark, on no node': claim({
      namespace: 'team-a',
      node: 'no-such-node',
      isMarked: true,
      isMirror: true,
    }),
  };
  return Object.entries(claims).flatMap(([name, pod]) => {
    const after = textOf({ ...cluster, pods: [...cluster.pods, pod] });
    return after === before ? [] : [`${name} changes: ${firstDifference(before, after)}`];
  });
}

/** A pod outside takes at most its node, or what pods hold there beyond it; nor does it take more from one queue. */
function claimsOnNode(cluster: WildCluster): readonly string[] {
  const [node] = cluster.nodes;
  const name = node?.metadata.name ?? '';
  const view = new WildView(cluster);
  const before = view.plan();
  const has = view.snapshot.nodes.get(name)?.node;
  const pods = [...cluster.pods, claim({ namespace: 'outside', node: name, isMarked: true })];
  const after = new WildView({ ...cluster, pods }).plan();
  const bound = has === undefined ? new Map<string, Whole>() : allocatableOf(has);
  const held = heldOn(view, name);
  return before.directory.tree.queues.flatMap(({ name: queue }, index) =>
    Array.from(deservedOf(before.shares, index)).flatMap(([type, amount]) => {
      const now = deservedOf(after.shares, index).get(type) ?? 0;
      const isBounded = minus(amount, now) <= larger(bound.get(type) ?? 0, held.get(type) ?? 0);
      return isBounded ? [] : [`a pod on ${name} takes ${minus(amount, now)} ${type} of ${queue}`];
    }),
  );
}

/** A pod may still hold a device that its node has no more. */
function heldOn(view: WildView, node: string): ReadonlyMap<string, Whole> {
  const sum = new Map<string, Whole>();
  for (const { pod } of view.snapshot.occupancies.get(node)?.pods ?? []) addAmounts(sum, view.amounts.of(pod));
  return sum;
}

/** A waiting pod of one queue, however large and important, leaves the others what they are guaranteed. */
function waitingClaims(cluster: WildCluster): readonly string[] {
  const before = new WildView(cluster).plan();
  const pod = claim({ namespace: 'team-a', cpu: '9007199254740993', isGated: true });
  const after = new WildView({ ...cluster, pods: [...cluster.pods, pod] }).plan();
  const { tree } = before.directory;
  const own = new Set(
    after.question.waiting
      .filter(({ uid }) => uid === 'uid-claim')
      .flatMap(({ queue }) => pathOf(tree, tree.indexes.get(queue) ?? 0)),
  );
  return tree.queues.flatMap(({ name, guaranteed }, index) =>
    Array.from(deservedOf(before.shares, index)).flatMap(([type, amount]) => {
      const kept = smaller(amount, guaranteed.get(type) ?? 0);
      const now = deservedOf(after.shares, index).get(type) ?? 0;
      return own.has(index) || now >= kept
        ? []
        : [`a waiting pod takes ${minus(kept, now)} ${type} of the guarantee of ${name}`];
    }),
  );
}

/** A node that says it has a thousand times more adds no more than it had, and a new one not ten times the largest. */
function lies(cluster: WildCluster): readonly string[] {
  const faults = cluster.nodes.slice(0, 1).flatMap(({ metadata: { name = '' } }) => {
    const view = new WildView(cluster);
    const before = view.plan();
    const had = view.snapshot.nodes.get(name)?.node;
    view.now += 5_000;
    view.seeNode(lyingNode(name));
    return had === undefined
      ? []
      : added(before, view.plan(), (type) => times(allocatableOf(had).get(type) ?? 0, 2), name);
  });
  const view = new WildView(cluster);
  const before = view.plan();
  view.now += 5_000;
  view.seeNode(lyingNode('new'));
  const largest = (type: string): Whole =>
    [...view.snapshot.nodes.values()].reduce<Whole>((most, { node }) => {
      const has = node.name === 'new' ? 0 : (allocatableOf(node).get(type) ?? 0);
      return has > most ? has : most;
    }, 0);
  return [...faults, ...added(before, view.plan(), (type) => times(largest(type), 10), 'new')];
}

function added(before: QueuePlan, after: QueuePlan, most: (type: string) => Whole, node: string): readonly string[] {
  if (before.declared !== undefined) return [];
  return ['cpu', 'memory'].flatMap((type) => {
    const bound = most(type);
    const [had, has] = [before.total.get(type) ?? 0, after.total.get(type) ?? 0];
    return bound === 0 || has <= plus(had, bound) ? [] : [`node ${node} adds ${minus(has, had)} ${type} at once`];
  });
}

interface Claim {
  readonly namespace: string;
  readonly node?: string;
  readonly isMarked?: boolean;
  readonly isMirror?: boolean;
  readonly isGated?: boolean;
  readonly cpu?: string;
}

function claim({ namespace, node, cpu = '1000', isMarked, isMirror, isGated }: Claim): KubeObject {
  const mark = { queue: 'team-b', application: 'x', mayPreempt: true, mayBePreempted: false, at: 0, decision: 'x' };
  const annotations = {
    ...fieldsIf(isMarked === true, { 'plimsoll.dev/admitted': encodeAdmitted(mark) }),
    ...fieldsIf(isMirror === true, { 'kubernetes.io/config.mirror': 'hash' }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: 'claim', uid: 'uid-claim', resourceVersion: '999', annotations },
    spec: {
      ...(node !== undefined && { nodeName: node }),
      ...fieldsIf(isGated === true, { schedulingGates: [{ name: 'plimsoll.dev/queue' }] }),
      containers: [{ name: 'main', resources: { requests: { cpu, memory: '1Ti' } } }],
      priority: 1_999_999_999,
    },
    status: isGated === true ? { phase: 'Pending' } : { phase: 'Running', startTime: '2026-01-01T00:00:00Z' },
  };
}

function textOf(cluster: WildCluster): string {
  const view = new WildView(cluster);
  const plan = view.plan();
  return planText(plan, roomSteps(view, plan));
}
