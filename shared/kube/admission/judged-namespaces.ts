import { prepareSelector, type Requirement, type Selector } from '#shared/domain/labels/label-selector.ts';
import {
  DISRUPTION_LIMITS_ENFORCED,
  EXEMPT_NAMESPACES,
  LABEL_DISRUPTION_LIMITS,
  LABEL_IGNORE,
  LABEL_PRIORITY_QUOTA,
  PRIORITY_QUOTA_ENFORCED,
} from '#shared/kube/api-names.ts';

/** What a namespace must say before the quota entry is in force there. */
export const QUOTA_ENFORCED: Requirement = {
  key: LABEL_PRIORITY_QUOTA,
  operator: 'In',
  values: [PRIORITY_QUOTA_ENFORCED],
};

/** What a namespace must say before evictions in it ask the limits of disruptions. */
export const LIMITS_ENFORCED: Requirement = {
  key: LABEL_DISRUPTION_LIMITS,
  operator: 'In',
  values: [DISRUPTION_LIMITS_ENFORCED],
};

/** As people write that of the quotas. */
export const QUOTA_LABEL = `${LABEL_PRIORITY_QUOTA}=${PRIORITY_QUOTA_ENFORCED}`;

/** Kubernetes' own namespaces and ours are never judged; an administrator may exempt others by label. */
export function judgedNamespaces(...more: readonly Requirement[]): {
  readonly matchExpressions: readonly Requirement[];
} {
  return {
    matchExpressions: [
      { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [...EXEMPT_NAMESPACES] },
      { key: LABEL_IGNORE, operator: 'NotIn', values: ['true'] },
      ...more,
    ],
  };
}

/** The namespaces, by their labels, that any entry about pods is asked about. */
export const JUDGED_NAMESPACES: Selector = prepareSelector({ matchLabels: new Map(), ...judgedNamespaces() });

/** The namespaces, by their labels, for whose pods the API server asks the quota entry. */
export const QUOTA_NAMESPACES: Selector = prepareSelector({
  matchLabels: new Map(),
  ...judgedNamespaces(QUOTA_ENFORCED),
});
