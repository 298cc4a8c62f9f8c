import type { PodEntry } from '#shared/api/node-pressure.ts';
import type { Overview } from './pods/overview.ts';
import type { PodName, ReadPod } from './pods/read-pod.ts';
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
  /** What the objects of its namespace say about a pod, read on request; never rejects. */
  readonly readPod: (pod: PodName, signal: AbortSignal) => Promise<ReadPod>;
  /** What the agent of the node reports about a pod. */
  readonly podFigures: (node: string, uid: string) => PodEntry | undefined;
  /** Namespaces and waiting pods, read on request and kept for seconds; never rejects. */
  readonly overview: (signal: AbortSignal) => Promise<Overview>;
  /** `namespace/name` of pods, read on request for a search; never rejects. */
  readonly podNames: (text: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** Calls back on changes; returns a function that stops it. */
  readonly onChange: (listener: () => void) => () => void;
}
