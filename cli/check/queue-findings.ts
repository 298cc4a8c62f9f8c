import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import { isManaged } from '#shared/kube/annotations/queue-marks.ts';
import { PRIORITY_POLICIES } from '#shared/kube/resource.ts';
import { type ClusterModel, decodeManifest } from '#cli/cluster/cluster-model.ts';
import { type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import { preemptsPastQueues } from './messages.ts';

/**
 * Managed namespaces whose pods kube-scheduler may preempt others for: it goes by priority and knows no queues. The
 * extender does not change that; a policy that forbids preemption to everybody does.
 */
export function queueFindings(
  manifests: readonly Manifest[],
  { namespaces }: Pick<ClusterModel, 'namespaces'>,
): readonly Finding[] {
  const policies = ofKind(manifests, PRIORITY_POLICIES).map((each) => decodeManifest(each, decodePriorityPolicy));
  const forbidding = policies.filter(forbidsPreemption);
  const open = namespaces
    .filter(({ labels }) => isManaged(labels))
    .filter(({ labels }) => !forbidding.some((policy) => policy.namespaces.matches(labels)))
    .map(({ name }) => name);
  return open.length === 0 ? [] : [preemptsPastQueues(open.toSorted())];
}

function forbidsPreemption({ preemption, onViolation, subjects }: PriorityPolicy): boolean {
  return preemption === 'Never' && onViolation === 'Deny' && subjects.length === 0;
}
