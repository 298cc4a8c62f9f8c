import type { KubeClient } from '#shared/kube/client/client.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { ContestedWrites } from './contested-writes.ts';
import type { NodeMetrics } from './node-metrics.ts';
import type { NodeCaches } from './node-caches.ts';
import type { NodesConfiguration } from './nodes-configuration.ts';
import type { WriteBudgets } from './write-budget.ts';

/** What the passes of one leadership read and write. */
export interface PassPorts {
  readonly client: KubeClient;
  readonly caches: NodeCaches;
  readonly configuration: NodesConfiguration;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: NodeMetrics;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly log: Log;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  readonly budgets: WriteBudgets;
  readonly contested: ContestedWrites;
  /** Logs decisions of a dry run, each once for as long as it is planned. */
  readonly announce: Announce;
}

/** What is written; a label of metrics. */
export type Written = 'taints' | 'conditions' | 'avoid';

/**
 * Writes once if the lease is held, the pass goes on and the rate allows it. Resolves with whether it was carried out;
 * never rejects.
 */
export async function writeFenced(
  { term, budgets, metrics, log }: PassPorts,
  { object, name }: { readonly object: Written; readonly name: string },
  write: () => Promise<Outcome<unknown>>,
  signal: AbortSignal,
): Promise<boolean> {
  const budget = object === 'avoid' ? budgets.avoid : budgets.nodes;
  // Nothing is taken for a write that is sure to fail.
  if (!term.isHeld() || signal.aborted || !budget.take(name)) return false;
  const outcome = await write();
  metrics.writes.add({ object, outcome: outcome.kind });
  // After a conflict or the deletion of the node, the next pass plans from the new state.
  const isExpected = outcome.kind === 'ok' || outcome.kind === 'conflict' || outcome.kind === 'notFound';
  if (!isExpected) log.warn({ node: name, object, kind: outcome.kind, message: outcome.message }, 'Node write failed');
  return outcome.kind === 'ok';
}

/** `topic` separates decisions that are made apart. */
export type Announce = (topic: Written, texts: readonly string[]) => void;

/** Logs each text when it is new since the call before. */
export function createAnnouncer(log: Pick<Log, 'info'>): Announce {
  const said = new Map<Written, ReadonlySet<string>>();
  return (topic, texts) => {
    const before = said.get(topic);
    for (const text of texts) if (before?.has(text) !== true) log.info({ text, dryRun: true }, 'Node change planned');
    said.set(topic, new Set(texts));
  };
}
