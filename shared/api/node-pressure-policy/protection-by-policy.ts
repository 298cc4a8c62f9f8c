import { DEFAULT_LIMITS } from '#shared/domain/eviction/eviction-limits.ts';
import { DEFAULT_OPT_OUT, DEFAULT_OPT_OUT_CEILING, type Protection } from '#shared/domain/eviction/protection.ts';
import type { AgentPolicy } from './policy.ts';

/** The rules for our own evictions on a node without a policy; their mode is then the agent's own setting. */
export const PROTECTION_WITHOUT_POLICY: Protection = {
  policy: undefined,
  limits: DEFAULT_LIMITS,
  namespaces: [],
  optOutCeiling: DEFAULT_OPT_OUT_CEILING,
  optOut: DEFAULT_OPT_OUT,
};

/** The rules of a policy for our own evictions on its nodes. */
export function protectionByPolicy({ name, mode, limits, protect }: AgentPolicy): Protection {
  const { namespaces, optOutCeiling, optOut } = protect;
  return { policy: { name, mode }, limits, namespaces, optOutCeiling, optOut };
}
