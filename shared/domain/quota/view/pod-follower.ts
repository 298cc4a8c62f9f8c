import type { Cost } from './cost-table.ts';
import type { NamespacePods, PodGroup } from './pod-group.ts';

/** Whoever adds up pods as they come and go. A pod without a cost cannot be read. */
export interface PodFollower {
  podJoined(group: PodGroup, cost: Cost | undefined): void;
  podLeft(group: PodGroup, cost: Cost | undefined): void;
  /** A later change of one of the namespace's pods is known, whatever it changed. */
  podsMovedOn(home: NamespacePods): void;
  /** Its labels have changed, or that it is there. */
  namespaceChanged(home: NamespacePods): void;
}
