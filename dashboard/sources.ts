import type { ReadNode } from './what-if/read-node.ts';
import type { History } from './views/history.ts';
import type { NodePolicyView } from './views/node-policies.ts';
import type {
  ClassView,
  NodeView,
  PolicyView,
  PreemptionView,
  QueueView,
  QuotaView,
  TimelineEntry,
} from './views/view.ts';

/** The data of the dashboard. An unchanged value is the same object again. */
export interface DashboardSources {
  /** Sorted by name; `now` is in milliseconds since 1970. */
  readonly nodes: (now: number) => readonly NodeView[];
  readonly history: (node: string) => History;
  readonly timeline: (now: number) => readonly TimelineEntry[];
  /** The timeline of one node, even if the common timeline is too long to include it. */
  readonly nodeTimeline: (node: string, now: number) => readonly TimelineEntry[];
  readonly classes: () => readonly ClassView[];
  readonly quotas: () => readonly QuotaView[];
  /** From the root, each queue before its children. */
  readonly queues: () => readonly QueueView[];
  /** Newest first. */
  readonly preemptions: () => readonly PreemptionView[];
  readonly policies: () => readonly PolicyView[];
  readonly nodePolicies: (now: number) => readonly NodePolicyView[];
  /** The input of a simulation for one node, read on request; never rejects. */
  readonly readNode: (name: string, signal: AbortSignal) => Promise<ReadNode>;
  /** Calls back on changes; returns a function that stops it. */
  readonly onChange: (listener: () => void) => () => void;
}
