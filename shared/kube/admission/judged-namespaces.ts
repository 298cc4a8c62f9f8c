import { prepareSelector, type Requirement, type Selector } from '#shared/domain/labels/label-selector.ts';
import {
  DISRUPTION_LIMITS_ENFORCED,
  EXEMPT_NAMESPACES,
  LABEL_DISRUPTION_LIMITS,
  LABEL_IGNORE,
  LABEL_PRIORITY_QUOTA,
  PRIORITY_QUOTA_ENFORCED,
} from '#shared/kube/api-names.ts';

/** The namespace label that enables the quota entry. */
export const QUOTA_ENFORCED: Requirement = {
  key: LABEL_PRIORITY_QUOTA,
  operator: 'In',
  values: [PRIORITY_QUOTA_ENFORCED],
};

/** The namespace label that makes evictions subject to disruption limits. */
export const LIMITS_ENFORCED: Requirement = {
  key: LABEL_DISRUPTION_LIMITS,
  operator: 'In',
  values: [DISRUPTION_LIMITS_ENFORCED],
};

/** The quota label as users write it. */
export const QUOTA_LABEL = `${LABEL_PRIORITY_QUOTA}=${PRIORITY_QUOTA_ENFORCED}`;

/** Kubernetes' own namespaces and ours are never judged; administrators may exempt others by label. */
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

/** Selects the namespaces for which any entry about pods is called. */
export const JUDGED_NAMESPACES: Selector = prepareSelector({ matchLabels: new Map(), ...judgedNamespaces() });

/** Selects the namespaces for whose pods the API server calls the quota entry. */
export const QUOTA_NAMESPACES: Selector = prepareSelector({
  matchLabels: new Map(),
  ...judgedNamespaces(QUOTA_ENFORCED),
});
