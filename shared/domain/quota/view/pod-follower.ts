import type { Cost } from './cost-table.ts';
import type { NamespacePods, PodGroup } from './pod-group.ts';

/** Receives pods as they appear and disappear. A pod without a cost cannot be read. */
export interface PodFollower {
  podJoined(group: PodGroup, cost: Cost | undefined): void;
  podLeft(group: PodGroup, cost: Cost | undefined): void;
  /** A later change of one of the namespace's pods is known, whatever it affects. */
  podsMovedOn(namespace: NamespacePods): void;
  /** Its labels have changed, or it was added or released. */
  namespaceChanged(namespace: NamespacePods): void;
}
