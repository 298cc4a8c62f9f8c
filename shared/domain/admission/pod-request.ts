import type { Pod } from '#shared/domain/pod/pod.ts';
import type { Requester } from './request.ts';

/** A pod to create, or the pod that a template describes. */
export interface PodRequest {
  readonly pod: Pod;
  readonly requester: Requester;
  /** `spec.serviceAccountName`, or `default` if it is not set. */
  readonly serviceAccountName: string;
  /** `spec.schedulerName`, or `default-scheduler` if it is not set. */
  readonly schedulerName: string;
  /**
   * Whether the user named the class or the API server filled in the global default: read from managedFields, so a
   * hint, not a proof. `unknown` is treated as `person`.
   */
  readonly classNamedBy: 'person' | 'default' | 'unknown';
  /** Why its annotations have no effect, as sentences. */
  readonly wishMistakes: readonly string[];
}
