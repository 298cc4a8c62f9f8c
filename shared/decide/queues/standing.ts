import type { Admitted } from '#shared/api/admitted.ts';
import { isDaemonSetPod, type Pod } from '#shared/domain/pod/pod.ts';
import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { applicationOf, isManaged } from '#shared/kube/annotations/annotations.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import { type FindQueue, untracked } from './queue-finder.ts';
import type { QueuedPod } from './queued-pod.ts';

/** Let in. */
export interface AdmittedPod extends QueuedPod {
  readonly admitted: Admitted;
}

export function isAdmitted(pod: QueuedPod | undefined): pod is AdmittedPod {
  return pod?.admitted !== undefined;
}

type StandingIn = Pick<ClusterSnapshot, 'namespaces' | 'daemonSets'>;

export type Standing = Pick<RunningPod, 'queue' | 'application' | 'mayBePreempted'>;

/**
 * How a pod stands in its queue; `undefined` for one that has to stay. Pods that were never let in stay, as those which
 * are older than the queues. Those of DaemonSets do not, or their queue would have no bound; they go after others.
 */
export function standingOf(
  pod: Pod,
  queued: QueuedPod | undefined,
  snapshot: StandingIn,
  find: FindQueue,
): Standing | undefined {
  const isOfDaemonSet = isDaemonSetPod(pod, snapshot.daemonSets);
  if (isAdmitted(queued)) return isOfDaemonSet ? { ...queued.admitted, mayBePreempted: false } : queued.admitted;
  if (!isOfDaemonSet || !isManaged(snapshot.namespaces.get(pod.namespace))) return undefined;
  const found = find(untracked(pod));
  if (found.kind === 'none') return undefined;
  return { queue: found.name, application: applicationOf(pod), mayBePreempted: false };
}

/** What forbids queues to evict a pod, however it stands in its queue. */
export function protectionOf(pod: Pick<QueuedPod, 'namespace' | 'name' | 'priority'>): string | undefined {
  const { namespace, name, priority } = pod;
  if (hasCriticalPriority({ spec: { priority } })) return `pod ${name} has a system priority`;
  return PROTECTED_NAMESPACES.some((each) => each === namespace) ? `namespace ${namespace} is protected` : undefined;
}
