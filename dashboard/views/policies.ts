import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import type { Subject } from '#shared/domain/priority/priority-policy.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { selectorText } from '#shared/kube/list/read-some.ts';
import type { PolicyView } from './view.ts';

/** A PriorityPolicy; `undefined` for one that cannot be read. Never throws. */
export function policyView(object: KubeObject): PolicyView | undefined {
  const decoded = decodePriorityPolicy(object);
  if (!decoded.ok) return undefined;
  const { name, namespaces, subjects, defaultClassName, allowedClassNames, ...rest } = decoded.value;
  return {
    name,
    namespaces: namespaces.written === undefined ? '' : selectorText(namespaces.written),
    subjects: subjects.map(subjectText),
    defaultClass: defaultClassName ?? '',
    allowedClasses: allowedClassNames,
    maxPriority: rest.maxPriority,
    preemption: rest.preemption,
    needQuota: rest.requireQuotaFor,
    onViolation: rest.onViolation,
  };
}

function subjectText(subject: Subject): string {
  return subject.kind === 'ServiceAccount'
    ? `ServiceAccount ${subject.namespace}/${subject.name}`
    : `${subject.kind} ${subject.name}`;
}
