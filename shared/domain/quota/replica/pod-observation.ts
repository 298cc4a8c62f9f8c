import type { Count } from './apply-batch.ts';

/** What the pods say about a ledger. */
export type PodObservation =
  | { readonly kind: 'counted'; readonly count: Count }
  /** The last recount has seen what we have not: ours would forget pods, and what is stored is newer. */
  | { readonly kind: 'behind' }
  /** Not all pods are known yet. */
  | { readonly kind: 'blind' };
