import type { Pod } from '#shared/domain/pod/pod.ts';
import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';

/** Pods that were looked up for one decision. */
export interface KnownPods {
  readonly pods: readonly Pod[];
  /** There may be more pods than were read. */
  readonly isPartial: boolean;
}

/** No look-up was made, or nothing could be read. */
export const NO_KNOWN_PODS: KnownPods = { pods: [], isPartial: false };

/** Pods to look up: those of a namespace that the selector selects; `undefined` selects all. */
export interface PodSearch {
  readonly namespace: string;
  readonly selector: LabelSelector | undefined;
}
