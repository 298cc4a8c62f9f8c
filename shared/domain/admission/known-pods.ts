import type { LabelSelector, Pod } from '#shared/domain/model/pod.ts';

/** Pods that were looked up for one decision. */
export interface KnownPods {
  readonly pods: readonly Pod[];
  /** There are more than were looked at. */
  readonly isPartial: boolean;
}

/** Nobody looked, or nothing could be read. */
export const NO_KNOWN_PODS: KnownPods = { pods: [], isPartial: false };

/** Pods worth looking up: those of a namespace that a selector selects; `undefined` selects all. */
export interface PodSearch {
  readonly namespace: string;
  readonly selector: LabelSelector | undefined;
}
