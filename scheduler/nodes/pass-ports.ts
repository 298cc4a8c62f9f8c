import type { KubeClient } from '#shared/kube/client/client.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { CounterMetric, GaugeMetric, Metrics } from '#shared/runtime/metrics.ts';
import { type BucketSize, fullBucket, takeToken } from '#shared/kube/client/token-bucket.ts';
import type { ContestedWrites } from './contested-writes.ts';
import type { NodeCaches } from './known-node.ts';
import type { NodesConfiguration } from './nodes-configuration.ts';

/** What the passes of one leadership read and write. */
export interface NodePassPorts {
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
export type WriteKind = 'taints' | 'conditions' | 'avoid';

/**
 * Writes once if the lease is held, the pass goes on and the rate allows it. Resolves with whether it was carried out;
 * never rejects.
 */
export async function writeFenced(
  { term, budgets, metrics, log }: NodePassPorts,
  { object, name }: { readonly object: WriteKind; readonly name: string },
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
export type Announce = (topic: WriteKind, texts: readonly string[]) => void;

/** Logs each text when it is new since the call before. */
export function createAnnouncer(log: Pick<Log, 'info'>): Announce {
  const said = new Map<WriteKind, ReadonlySet<string>>();
  return (topic, texts) => {
    const before = said.get(topic);
    for (const text of texts) if (before?.has(text) !== true) log.info({ text, dryRun: true }, 'Node change planned');
    said.set(topic, new Set(texts));
  };
}

/** Metrics of the node controller. */
export interface NodeMetrics {
  readonly leader: GaugeMetric;
  readonly writes: CounterMetric;
  readonly taintedNodes: GaugeMetric;
  readonly heldBackNodes: GaugeMetric;
  readonly contestedNodes: GaugeMetric;
  readonly avoidEntries: GaugeMetric;
  readonly loops: CounterMetric;
}

export function createNodeMetrics(metrics: Metrics): NodeMetrics {
  const all = {
    leader: metrics.gauge('plimsoll_scheduler_leader', 'Whether this replica writes to nodes (1) or not (0)'),
    writes: metrics.counter('plimsoll_scheduler_node_writes_total', 'Writes to nodes and avoid lists by outcome', [
      'object',
      'outcome',
    ]),
    taintedNodes: metrics.gauge('plimsoll_scheduler_tainted_nodes', 'Nodes with a pressure taint'),
    heldBackNodes: metrics.gauge(
      'plimsoll_scheduler_held_back_nodes',
      'Nodes under pressure without a taint, because enough others have one',
    ),
    contestedNodes: metrics.gauge(
      'plimsoll_scheduler_contested_nodes',
      'Nodes on which another controller undoes the same taint or condition again and again',
    ),
    avoidEntries: metrics.gauge('plimsoll_scheduler_avoid_entries', 'Owners that are kept away from a node'),
    loops: metrics.counter('plimsoll_scheduler_eviction_loops_total', 'Loops of eviction and return that were broken'),
  };
  all.leader.set(0);
  return all;
}

/** A limited rate of writes that nodes take in turn, so that one which always has something to write starves no other. */
export interface WriteBudget {
  /** Takes one write for a node; `false` if none is left. */
  readonly take: (node: string) => boolean;
  /** Items of nodes in the order given, but those of nodes with a write after all others, the latest write last. */
  readonly inTurn: <T>(items: readonly T[], nodeOf: (item: T) => string) => readonly T[];
}

/** Avoid lists have a rate of their own: an agent that reports many evictions delays no taint. */
export interface WriteBudgets {
  readonly avoid: WriteBudget;
  /** For taints and conditions. */
  readonly nodes: WriteBudget;
}

export function createWriteBudgets(
  { writesPerMinute }: Pick<NodesConfiguration, 'writesPerMinute'>,
  clock: Pick<Clock, 'monotonic'>,
): WriteBudgets {
  return { avoid: createWriteBudget(writesPerMinute, clock), nodes: createWriteBudget(writesPerMinute, clock) };
}

/** As many nodes as Kubernetes supports; of more, those with the earliest writes count as without one. */
const MAX_REMEMBERED = 5_000;

/** A budget with all writes of a minute available, and no turn taken. */
export function createWriteBudget(perMinute: number, clock: Pick<Clock, 'monotonic'>): WriteBudget {
  const takeWrite = createWriteRate(perMinute, clock);
  // The latest write last: a Set keeps the order of insertion.
  const written = new Set<string>();
  return {
    take(node) {
      if (!takeWrite()) return false;
      written.delete(node);
      written.add(node);
      const [earliest = node] = written;
      if (written.size > MAX_REMEMBERED) written.delete(earliest);
      return true;
    },
    inTurn(items, nodeOf) {
      const turns = new Map(Array.from(written, (node, turn) => [node, turn]));
      const turnOf = (item: (typeof items)[number]): number => turns.get(nodeOf(item)) ?? -1;
      return items.toSorted((left, right) => turnOf(left) - turnOf(right));
    },
  };
}

/** A rate of writes, all of them available at the start. */
export function createWriteRate(perMinute: number, clock: Pick<Clock, 'monotonic'>): () => boolean {
  const size: BucketSize = { burst: perMinute, refillMs: 60_000 / perMinute };
  let bucket = fullBucket(size, clock.monotonic());
  return () => {
    const left = takeToken(bucket, size, clock.monotonic());
    bucket = left ?? bucket;
    return left !== undefined;
  };
}
