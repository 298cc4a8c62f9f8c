import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';

/** A PodDisruptionBudget as preemption sees it. */
export interface DisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  /** `undefined` and empty alike match no pod here. */
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** Names of pods whose disruption the API server has already counted. */
  readonly disruptedPods: ReadonlySet<string>;
}
