import type { ProtectionRules } from '#shared/domain/eviction/protection.ts';
import type { Namespace } from '#shared/domain/snapshot/namespace.ts';
import { ownerWishes } from '#shared/kube/annotations/annotations.ts';
import { LABEL_IGNORE, PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';

/** What the policy of a node protects. */
interface Protect {
  readonly namespaces: readonly string[];
  readonly optOutCeiling: number;
}

/** An opt-out that covers only what was requested does not keep a pod above its request in the severe stage. */
export function withoutOptOut(rules: ProtectionRules): ProtectionRules {
  return { ...rules, wantsToStay: () => false };
}

/** Which pods are never evicted for node pressure, by the policy of their node and the labels of namespaces. */
export function evictionRules(
  { namespaces, optOutCeiling }: Protect,
  inCluster: readonly Namespace[],
): ProtectionRules {
  const ignored = inCluster.filter(({ labels }) => labels.get(LABEL_IGNORE) === 'true').map(({ name }) => name);
  return {
    protectedNamespaces: new Set([...PROTECTED_NAMESPACES, ...namespaces, ...ignored]),
    optOutCeiling,
    wantsToStay: ({ annotations }) => !ownerWishes(annotations).mayBeEvicted,
  };
}
