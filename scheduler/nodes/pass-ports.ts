import { COMPONENT_NAMES } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { type ObjectAddress, patchObject } from '#shared/kube/client/objects.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { CounterMetric, GaugeMetric, Metrics } from '#shared/runtime/metrics.ts';
import { type BucketSize, fullBucket, takeToken } from '#shared/kube/client/token-bucket.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import type { ContestedWrites } from './contested-writes.ts';
import type { NodeCaches } from './known-node.ts';
import type { HeardAgent } from '#shared/domain/nodes/plan-spare.ts';
import type { NodeSettings } from '#shared/domain/nodes/node-settings.ts';
import type { NodesConfiguration } from './nodes-configuration.ts';

/** What the passes of one leadership read and write. */
export interface NodePassPorts {
  readonly client: KubeClient;
  readonly caches: NodeCaches;
  /** Of a node by name. */
  readonly settingsOf: (node: string) => NodeSettings;
  /** Share of all nodes that may have a taint at once. */
  readonly mostTaintedShare: number;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: NodeMetrics;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly log: Log;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  readonly budgets: WriteBudgets;
  readonly contested: ContestedWrites;
  /** When the spare room of each node was written last, in monotonic time. */
  readonly spareWrites: Map<string, number>;
  /** When each agent that lends was last heard, in monotonic time. */
  readonly heardAgents: Map<string, HeardAgent>;
  /** Logs dry-run decisions, each once for as long as it stays planned. */
  readonly announce: Announce;
}

/** The written object; a label of metrics. */
export type WriteKind = 'taints' | 'conditions' | 'avoid' | 'spare';

/**
 * Makes one write if the lease is held, the pass continues and the rate allows it. Resolves with whether the write
 * succeeded; never rejects.
 */
export async function writeFenced(
  { term, budgets, metrics, log }: NodePassPorts,
  { object, name }: { readonly object: WriteKind; readonly name: string },
  write: () => Promise<Outcome<unknown>>,
  signal: AbortSignal,
): Promise<boolean> {
  const budget = object === 'avoid' || object === 'spare' ? budgets[object] : budgets.nodes;
  // Checked first, so that a write which is sure to fail uses up nothing of the rate.
  if (!term.isHeld() || signal.aborted || !budget.take(name)) return false;
  const outcome = await write();
  metrics.writes.add({ object, outcome: outcome.kind });
  // After a conflict or a deleted node, the next pass plans from the new state.
  if (outcome.kind !== 'conflict' && outcome.kind !== 'notFound')
    faultLog(log, 'Node write failed').answered(`${object} of ${name}`, outcome);
  return outcome.kind === 'ok';
}

/** Of the writes of the passes. */
export const WRITE = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/** Merges fields into an object. Any other write since it was read is a conflict, and the next pass plans again. */
export function mergeAsRead(
  client: KubeClient,
  { resourceVersion, ...address }: ObjectAddress & { readonly resourceVersion: string | undefined },
  fields: object,
  signal: AbortSignal,
): Promise<Outcome<unknown>> {
  const patch = { metadata: { resourceVersion }, ...fields };
  return patchObject(client, address, patch, { ...WRITE, type: 'merge', signal });
}

/** `topic` separates independent decisions. */
export type Announce = (topic: WriteKind, texts: readonly string[]) => void;

/** Logs each text that the previous call did not have. */
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

/** A write rate that nodes share in turn, so that a node which always needs a write does not starve the others. */
export interface WriteBudget {
  /** Takes one write for a node; `false` if none is left. */
  readonly take: (node: string) => boolean;
  /** Items in the given order, but nodes with a recent write come after all others, the most recent last. */
  readonly inTurn: <T>(items: readonly T[], nodeOf: (item: T) => string) => readonly T[];
}

/** Avoid lists have a separate rate, so that an agent which reports many evictions does not delay taints. */
export interface WriteBudgets {
  readonly avoid: WriteBudget;
  /** For taints and conditions. */
  readonly nodes: WriteBudget;
  /** For spare room, which agents change by themselves. */
  readonly spare: WriteBudget;
}

export function createWriteBudgets(
  { writesPerMinute }: Pick<NodesConfiguration, 'writesPerMinute'>,
  clock: Pick<Clock, 'monotonic'>,
): WriteBudgets {
  const budget = (): WriteBudget => createWriteBudget(writesPerMinute, clock);
  return { avoid: budget(), nodes: budget(), spare: budget() };
}

/** As many nodes as Kubernetes supports. Beyond that, the nodes with the oldest writes count as not written. */
const MAX_REMEMBERED = 5_000;

/** A budget with all writes of a minute available and no recent writes. */
export function createWriteBudget(perMinute: number, clock: Pick<Clock, 'monotonic'>): WriteBudget {
  const takeWrite = createWriteRate(perMinute, clock);
  // The most recent write comes last: a Set keeps insertion order.
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

/** A write rate with all writes available at the start. */
export function createWriteRate(perMinute: number, clock: Pick<Clock, 'monotonic'>): () => boolean {
  const size: BucketSize = { burst: perMinute, refillMs: 60_000 / perMinute };
  let bucket = fullBucket(size, clock.monotonic());
  return () => {
    const left = takeToken(bucket, size, clock.monotonic());
    bucket = left ?? bucket;
    return left !== undefined;
  };
}
