import type { NodeEntry } from '#shared/domain/model/node-entry.ts';
import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';
import type { Refusal } from './refusal.ts';

/** A filter that looks at the node alone, made ready for one incoming pod. */
export type NodeFilter = (entry: NodeEntry) => Refusal | undefined;

/** A filter that minds who else is there, made ready for one incoming pod; `undefined` stands for one with nothing to mind. */
export interface CompanyFilter {
  /** Starts a trial on a node with everybody on it who is there now. */
  readonly open: (entry: NodeEntry) => Watch;
}

/** What one filter keeps count of while pods are taken off a node and put back. It is private to the trial. */
export interface Watch {
  readonly add: (placed: PlacedPod) => void;
  readonly remove: (placed: PlacedPod) => void;
  readonly refusal: () => Refusal | undefined;
}
