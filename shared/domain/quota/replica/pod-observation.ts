import type { Count } from './apply-batch.ts';

/** What an observation of the pods means for a ledger. */
export type PodObservation =
  | { readonly kind: 'counted'; readonly count: Count }
  /** The last recount is newer than our view: ours would miss pods. */
  | { readonly kind: 'behind' }
  /** Not all pods are known yet. */
  | { readonly kind: 'blind' };
