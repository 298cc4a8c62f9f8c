import { DEFAULT_OPT_OUT_CEILING } from '#shared/domain/eviction/protection.ts';
import type { MoveRules } from '#shared/domain/rescheduling/running-pod.ts';
import { FOREIGN_PREFER_NO_EVICTION, LABEL_IGNORE, PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import { ownerWishes } from './annotations.ts';

/**
 * Which pods the rescheduler never moves. Moves are optional, so unlike an eviction for node pressure the rescheduler
 * also honours the descheduler's annotation with the same meaning.
 */
export function moveRules(
  namespaces: ReadonlyMap<string, ReadonlyMap<string, string>>,
  fitElsewhere: boolean,
): MoveRules {
  const ignored = [...namespaces].filter(([, labels]) => labels.get(LABEL_IGNORE) === 'true').map(([name]) => name);
  return {
    protectedNamespaces: new Set([...PROTECTED_NAMESPACES, ...ignored]),
    optOutCeiling: DEFAULT_OPT_OUT_CEILING,
    wantsToStay: ({ annotations }) =>
      !ownerWishes(annotations).mayBeEvicted || annotations.has(FOREIGN_PREFER_NO_EVICTION),
    fitElsewhere,
  };
}
