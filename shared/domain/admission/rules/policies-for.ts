import type { PriorityPolicy, Subject } from '#shared/domain/priority/priority-policy.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';

const NO_LABELS: ReadonlyMap<string, string> = new Map();

/**
 * The policies that apply to a pod: they select its namespace, and the requester or the service account that the pod
 * runs as (a controller's pod does not show the user; its template was checked when the user wrote it).
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
