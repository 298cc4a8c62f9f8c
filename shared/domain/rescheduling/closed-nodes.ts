import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { isFreshReport, type NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node, Taint } from '#shared/domain/snapshot/node-entry.ts';
import { REASONS } from './messages.ts';

/** Autoscalers put these on nodes that they are about to empty; some of them only prefer that no pod is placed there. */
const EMPTYING: readonly string[] = [
  'ToBeDeletedByClusterAutoscaler',
  'DeletionCandidateOfClusterAutoscaler',
  'karpenter.sh/disrupted',
  'karpenter.sh/disruption',
];

/**
 * Why a node is neither source nor target; `undefined` where it may be both. A node that is low because it is closed must
 * never be filled (S3-41), and one that is closed is emptied by whoever closed it.
 */
export function whyClosed(
  node: Node,
  pressure: NodePressureFacts | undefined,
  { now, isSelected }: { readonly now: Instant; readonly isSelected: (labels: Node['labels']) => boolean },
): Because | undefined {
  const { name } = node;
  if (!isSelected(node.labels)) return REASONS.nodeNotSelected({ node: name });
  if (node.isUnschedulable) return REASONS.nodeCordoned({ node: name });
  const emptying = node.taints.find(({ key }) => EMPTYING.includes(key));
  if (emptying !== undefined) return REASONS.nodeEmptied({ node: name, taint: emptying.key });
  const taint = node.taints.find(keepsPodsAway);
  if (taint !== undefined) return REASONS.nodeTainted({ node: name, taint: taint.key });
  return isUnderPressure(pressure, now) ? REASONS.nodeUnderPressure({ node: name }) : undefined;
}

function keepsPodsAway({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}

function isUnderPressure(facts: NodePressureFacts | undefined, now: Instant): boolean {
  return facts?.pressure !== undefined && isFreshReport(facts.observedAt, now);
}
