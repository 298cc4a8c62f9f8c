import { prepareSelector, type Requirement, type Selector } from '#shared/domain/labels/label-selector.ts';
import {
  EXEMPT_NAMESPACES,
  LABEL_IGNORE,
  LABEL_PRIORITY_QUOTA,
  PRIORITY_QUOTA_ENFORCED,
} from '#shared/kube/api-names.ts';
import { isOn, NAMESPACE_SWITCHES, type WrittenRequirement } from '#shared/kube/namespace-switches.ts';

/** The quota label as users write it. */
export const QUOTA_LABEL = `${LABEL_PRIORITY_QUOTA}=${PRIORITY_QUOTA_ENFORCED}`;

/** Kubernetes' own namespaces and ours are never judged; administrators may exempt others by label. */
const NOT_EXEMPT: readonly Requirement[] = [
  { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [...EXEMPT_NAMESPACES] },
  { key: LABEL_IGNORE, operator: 'NotIn', values: ['true'] },
];

/** A selector of those that are judged and meet all of these. */
export function judgedNamespaces(...more: readonly WrittenRequirement[]): {
  readonly matchExpressions: readonly WrittenRequirement[];
} {
  return { matchExpressions: [...NOT_EXEMPT, ...more] };
}

/** Selects the namespaces for which any entry about pods is called. */
export const JUDGED_NAMESPACES: Selector = prepareSelector({ matchLabels: new Map(), matchExpressions: NOT_EXEMPT });

/** Selects the namespaces for whose pods the API server calls the quota entry. */
export const QUOTA_NAMESPACES: Selector = {
  isEmpty: false,
  matches: (labels) => JUDGED_NAMESPACES.matches(labels) && isOn(NAMESPACE_SWITCHES.quotas, labels),
};
