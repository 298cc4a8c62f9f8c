import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { CounterMetric, GaugeMetric, HistogramMetric, Metrics } from '#shared/runtime/metrics.ts';

/** What is counted of the queues. */
export interface QueueMetrics {
  readonly leader: GaugeMetric;
  readonly gates: CounterMetric;
  readonly waited: HistogramMetric;
  readonly waiting: GaugeMetric;
  readonly oldestWaiting: GaugeMetric;
  readonly passes: HistogramMetric;
  readonly statusWrites: CounterMetric;
  readonly templateWrites: CounterMetric;
  readonly reclaims: CounterMetric;
  readonly reclaimEvictions: CounterMetric;
}

const WAIT_BUCKETS = [0.1, 0.3, 1, 2, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 21_600, 86_400];
const PASS_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

export function createQueueMetrics(metrics: Metrics): QueueMetrics {
  const leader = metrics.gauge('plimsoll_queue_leader', 'Whether this replica lets pods in: 1 or 0');
  leader.set(0);
  const waiting = metrics.gauge('plimsoll_queue_waiting_pods', 'Pods behind the scheduling gate, by reason', ['why']);
  for (const why of ['queue', 'room', 'no-queue']) waiting.set(0, { why });
  const reclaims = metrics.counter(
    'plimsoll_queue_reclaim_decisions_total',
    'Decisions about room for a pod whose queue is under its guarantee; each change counts once',
    ['decision', 'mode'],
  );
  for (const mode of ['DryRun', 'Enforce']) {
    for (const decision of ['Room', 'Await', 'Evict', 'None']) reclaims.add({ decision, mode }, 0);
  }
  const templateWrites = metrics.counter(
    'plimsoll_queue_template_writes_total',
    'Queues created from the template of another queue, changed with it and removed, by outcome of the write',
    ['write', 'outcome'],
  );
  for (const write of ['create', 'change', 'remove']) templateWrites.add({ write, outcome: 'ok' }, 0);
  return {
    leader,
    reclaims,
    templateWrites,
    waiting,
    oldestWaiting: metrics.gauge(
      'plimsoll_queue_oldest_waiting_timestamp_seconds',
      'Creation of the pod that waits longest behind the scheduling gate, by its queue; only the queues that wait longest',
      ['queue'],
    ),
    reclaimEvictions: metrics.counter(
      'plimsoll_queue_reclaim_evictions_total',
      'Evictions that make room for a pod whose queue is under its guarantee, by outcome',
      ['outcome'],
    ),
    gates: metrics.counter('plimsoll_queue_gates_total', 'Scheduling gates removed, by outcome of the write', [
      'outcome',
    ]),
    waited: metrics.histogram(
      'plimsoll_queue_wait_seconds',
      'Time from the creation of a pod until it was let in',
      [],
      WAIT_BUCKETS,
    ),
    passes: metrics.histogram(
      'plimsoll_queue_pass_duration_seconds',
      'Time to decide which pods go in',
      [],
      PASS_BUCKETS,
    ),
    statusWrites: metrics.counter('plimsoll_queue_status_writes_total', 'Writes of the status of a Queue, by outcome', [
      'outcome',
    ]),
  };
}

/** Shows how many pods wait and why. */
export function showWaiting(
  { waiting }: Pick<QueueMetrics, 'waiting'>,
  plan: Pick<QueuePlan, 'held' | 'seeking' | 'homeless' | 'returned' | 'outOfGang'>,
): void {
  waiting.set(plan.held.length, { why: 'queue' });
  waiting.set(plan.seeking.length, { why: 'room' });
  waiting.set(plan.homeless.length, { why: 'no-queue' });
  waiting.set(plan.returned.length, { why: 'no-node' });
  waiting.set(plan.outOfGang.length, { why: 'gang' });
}

/** Maximum number of queues with a series of their own. */
const TOP = 20;

/** Shows since when the queues wait that wait longest. It looks at every waiting pod: not for each pass. */
export function showOldestWaiting(
  { oldestWaiting }: Pick<QueueMetrics, 'oldestWaiting'>,
  { held, seeking }: Pick<QueuePlan, 'held' | 'seeking'>,
): void {
  const oldest = new Map<string, number>();
  for (const pods of [held, seeking]) {
    for (const { queue, waitingSince } of pods) {
      oldest.set(queue, Math.min(oldest.get(queue) ?? Infinity, waitingSince));
    }
  }
  oldestWaiting.reset();
  for (const [queue, since] of [...oldest].toSorted(([, left], [, right]) => left - right).slice(0, TOP)) {
    oldestWaiting.set(since / 1_000, { queue });
  }
}
