import type { EvictionLimits } from './eviction-limits.ts';

/** Without a policy that says otherwise: the priority of an ordinary important class, above which no pod may opt out. */
export const DEFAULT_OPT_OUT_CEILING = 1_000_000;

/**
 * How far a wish never to be evicted goes. `WithinRequest`: in the severe stage it covers only what the pod requested, so
 * that a pod above its request may be evicted. `Always`: it counts in both stages.
 */
export type OptOut = 'WithinRequest' | 'Always';

export const DEFAULT_OPT_OUT: OptOut = 'WithinRequest';

/** The rules for our own evictions on a node. */
export interface Protection {
  /** The policy that applies to the node; without one the mode is the agent's own setting. */
  readonly policy: { readonly name: string; readonly mode: 'DryRun' | 'Enforce' } | undefined;
  readonly limits: EvictionLimits;
  /** Protected in addition to kube-system and our own namespaces. */
  readonly namespaces: readonly string[];
  readonly optOutCeiling: number;
  readonly optOut: OptOut;
}
