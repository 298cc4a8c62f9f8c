import type { KubeObject } from '#shared/kube/kube-object.ts';

/** What the dashboard reads: others wrote it, it changes nothing. */
export interface DashboardSources {
  nodePressures(): Iterable<KubeObject>;
  events(): Iterable<KubeObject>;
  /** Calls back when something of it changed; returns how to stop. */
  onChange(listener: () => void): () => void;
}
