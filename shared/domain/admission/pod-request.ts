import type { Pod } from '#shared/domain/model/pod.ts';
import type { Requester } from './request.ts';

/** A pod that somebody wants to create, or the pod that a template stands for. */
export interface PodRequest {
  readonly pod: Pod;
  readonly requester: Requester;
  /** `spec.serviceAccountName`, `default` where the pod says nothing. */
  readonly serviceAccountName: string;
  /**
   * Whether the person named the class, or the API server filled in the global default: read from managedFields, so a
   * hint and no proof. `unknown` is taken for `person`.
   */
  readonly classNamedBy: 'person' | 'default' | 'unknown';
  /** What its annotations ask for and do not get, in sentences. */
  readonly wishMistakes: readonly string[];
}
