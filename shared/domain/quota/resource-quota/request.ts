import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { isTerminating } from './scopes.ts';

/** A request about a pod as the quota plugin sees it, last of all admission plugins. */
export interface QuotaRequest {
  readonly operation: string;
  /** Empty for the pod itself. */
  readonly subresource: string;
  /** The pod as it is to be stored. */
  readonly pod: Pod;
  readonly oldPod: Pod | undefined;
  /** A dry run is checked and never charged (oddity K13). */
  readonly isDryRun: boolean;
  readonly now: Instant;
}

/**
 * Whether a request can change what a quota counts: a new pod, a resize, or an update that moves the pod between
 * Terminating and NotTerminating. `pkg/quota/v1/evaluator/core/pods.go` Handles.
 */
export function isCountedRequest({ operation, subresource, pod, oldPod }: QuotaRequest): boolean {
  if (subresource === 'resize') return operation === 'UPDATE';
  if (subresource !== '') return false;
  if (operation !== 'UPDATE') return operation === 'CREATE';
  return oldPod !== undefined && isTerminating(oldPod) !== isTerminating(pod);
}
