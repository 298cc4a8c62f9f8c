import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import type { Requester } from '#shared/domain/admission/request.ts';
import { OWN_ACCOUNTS } from '#shared/kube/admission/cel-expressions.ts';
import { JUDGED_NAMESPACES } from '#shared/kube/admission/webhook-configurations.ts';

interface Creation {
  readonly isPod: boolean;
  readonly requester: Requester;
  readonly namespace: string;
}

/** Why the API server would not ask the webhook at all: its registered selectors and conditions, in words. */
export function findExemption(
  { isPod, requester, namespace }: Creation,
  { namespaceLabels }: ClusterState,
): string | undefined {
  if (!JUDGED_NAMESPACES.matches(namespaceLabels(namespace) ?? new Map()))
    return `namespace \`${namespace}\` is exempt`;
  const exemptGroup = isPod ? 'system:nodes' : 'system:serviceaccounts:kube-system';
  if (requester.groups.includes(exemptGroup)) return `what group \`${exemptGroup}\` creates is exempt`;
  return OWN_ACCOUNTS.includes(requester.name) ? 'what Plimsoll creates is exempt' : undefined;
}
