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

/** What the dashboard reads. A value that did not change is the same object again. */
export interface DashboardSources {
  /** By name; `now` is in milliseconds since 1970. */
  readonly nodes: (now: number) => readonly NodeView[];
  readonly history: (node: string) => History;
  readonly timeline: (now: number) => readonly TimelineEntry[];
  /** What happened on one node, also where the timeline of all is too long for it. */
  readonly nodeTimeline: (node: string, now: number) => readonly TimelineEntry[];
  readonly classes: () => readonly ClassView[];
  readonly quotas: () => readonly QuotaView[];
  /** From the top, each before its children. */
  readonly queues: () => readonly QueueView[];
  /** The newest first. */
  readonly preemptions: () => readonly PreemptionView[];
  readonly policies: () => readonly PolicyView[];
  readonly nodePolicies: (now: number) => readonly NodePolicyView[];
  /** What a simulation needs of one node, read when it is asked for; never rejects. */
  readonly readNode: (name: string, signal: AbortSignal) => Promise<ReadNode>;
  /** Calls back when something of it changed; returns how to stop. */
  readonly onChange: (listener: () => void) => () => void;
}
