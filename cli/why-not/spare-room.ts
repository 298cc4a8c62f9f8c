import type { Because } from '#shared/domain/base/because.ts';
import { hasEnded, type Pod } from '#shared/domain/pod/pod.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import { spareAmount, spareAmountText } from '#shared/domain/spare/spare-amounts.ts';
import { SPARE_KINDS, type SpareKind } from '#shared/domain/spare/spare-resources.ts';
import type { ClusterModel } from '#cli/cluster/cluster-model.ts';
import { lendsTooLittle } from './messages.ts';

/** The spare room that a pod requests and no node has left to lend. */
export function spareShortages(pod: Pod, cluster: Pick<ClusterModel, 'nodes' | 'pods'>): readonly Because[] {
  return SPARE_KINDS.flatMap((kind) => {
    const asked = spareOf(pod, kind);
    if (asked === 0) return [];
    const [most] = leftOnNodes(kind, cluster);
    if (most !== undefined && most.left >= asked) return [];
    const facts = {
      kind,
      asked: spareAmountText(kind, asked),
      node: most?.node ?? '',
      left: spareAmountText(kind, Math.max(0, most?.left ?? 0)),
    };
    return [{ code: 'SpareRoomMissing', text: lendsTooLittle(facts), facts }];
  });
}

/** What nodes that lend have left, the most first. */
function leftOnNodes(kind: SpareKind, { nodes, pods }: Pick<ClusterModel, 'nodes' | 'pods'>) {
  const taken = new Map<string, number>();
  for (const each of pods) {
    const { nodeName = '' } = each.spec;
    if (!hasEnded(each)) taken.set(nodeName, (taken.get(nodeName) ?? 0) + spareOf(each, kind));
  }
  const lent = nodes.flatMap(({ name, allocatable }) => {
    const amount = spareAmount(allocatable, kind);
    return amount === undefined ? [] : [{ node: name, left: amount - (taken.get(name) ?? 0) }];
  });
  return lent.sort((a, b) => b.left - a.left);
}

function spareOf(pod: Pod, kind: SpareKind): number {
  return spareAmount(podRequests(pod, SCHEDULER_VIEW), kind) ?? 0;
}
