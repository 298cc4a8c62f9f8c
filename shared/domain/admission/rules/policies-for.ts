import type { PriorityPolicy, Subject } from '#shared/domain/priority/priority-policy.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

const NO_LABELS: ReadonlyMap<string, string> = new Map();

/**
 * The policies that hold for a pod: its namespace is selected, and so is who asks or the service account that the pod
 * runs as (behind a controller the person is not known; the template was judged when the person wrote it).
 */
export function policiesFor(request: PodRequest, cluster: ClusterState): readonly PriorityPolicy[] {
  const labels = cluster.namespaceLabels(request.pod.namespace) ?? NO_LABELS;
  return cluster.policies.filter(
    ({ namespaces, subjects }) =>
      namespaces.matches(labels) && (subjects.length === 0 || subjects.some((each) => isSubject(each, request))),
  );
}

function isSubject(subject: Subject, { requester, pod, serviceAccountName }: PodRequest): boolean {
  switch (subject.kind) {
    case 'User':
      return requester.name === subject.name;
    case 'Group':
      return requester.groups.includes(subject.name);
    case 'ServiceAccount':
      return (
        requester.name === `system:serviceaccount:${subject.namespace}:${subject.name}` ||
        (pod.namespace === subject.namespace && serviceAccountName === subject.name)
      );
  }
}
