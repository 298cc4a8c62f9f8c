import { type EvictedPod, MAX_EVICTED } from '#shared/domain/disruption/disruption.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import { podAddress, type RunningPod, type WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import {
  ANNOTATION_EVICTION_DECISION,
  ANNOTATION_EVICTION_PART,
  ANNOTATION_EVICTION_REASON,
  EVENT_REASONS,
  EVICTION_BY_QUEUES,
} from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { type EventRecord, type EventRecorder, podReference } from '#shared/kube/events/event-recorder.ts';
import { type EvictionOutcome, evictPod, decisionIdOf } from '#shared/kube/events/evict-pod.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';

export interface EvictionPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly pods: Pick<QueuedPods, 'lost'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: Pick<QueueMetrics, 'reclaimEvictions'>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  /** No pod is evicted any more once an operator has said so. */
  readonly isEnforcing: () => boolean;
  /** The pods that the status of a queue lists as evicted for it, also by former leaders. */
  readonly evictedBefore?: (queue: string) => readonly EvictedPod[];
  /** Aborts when this replica no longer leads. */
  readonly leading: AbortSignal;
  /** An eviction that the watch does not show within this time did not happen. */
  readonly unseenMs?: number;
  /** A refused eviction is not requested again before this time is over. */
  readonly refusedMs?: number;
}

/** Evictions of one decision. */
export interface EvictionBatch {
  /** The queue for which they are made. */
  readonly queue: string;
  /** The pod that gets the room; absent if a queue gives back what exceeds its maximum. */
  readonly pod?: Pick<WaitingPod, 'uid' | 'name'>;
  readonly because: Because;
  /** The reason shown to the owner of the victim. */
  readonly textFor: (victim: RunningPod) => string;
  readonly nodeOf: (victim: RunningPod) => string;
}

/** Decisions of one queue whose victims hang; with more, no others are evicted for it. */
const MAX_HANGING = 2;

const REFUSED_MS = 60_000;
const UNSEEN_MS = 30_000;
const MAX_REMEMBERED = 10_000;

interface Asked {
  readonly queue: string;
  readonly node: string;
  readonly taker: string;
}

/** Instants of the monotonic clock, by UID. */
export type Deadlines = Map<string, number>;

/** Reads the clock only for pods with a deadline: it is called for every pod of the cluster. */
export function isAhead(deadlines: Deadlines, uid: string, clock: Pick<Clock, 'monotonic'>): boolean {
  const deadline = deadlines.get(uid);
  return deadline !== undefined && deadline > clock.monotonic();
}

/** Evicts pods for queues, and remembers each outcome until the watch shows it. */
export class QueueEvictions {
  readonly #ports: EvictionPorts;
  readonly #leaving: Deadlines = new Map();
  readonly #refused: Deadlines = new Map();
  readonly #evicted = new Map<string, readonly EvictedPod[]>();
  /** The pods evicted for others, by UID: the queue, and the pod that gets the room. */
  readonly #asked = new Map<string, Asked>();

  constructor(ports: EvictionPorts) {
    this.#ports = ports;
  }

  /** Whether the pod's eviction was requested but the watch does not show it yet. */
  isLeaving(uid: string): boolean {
    return isAhead(this.#leaving, uid, this.#ports.clock);
  }

  /** Whether the pod's eviction was refused recently. */
  isRefused(uid: string): boolean {
    return isAhead(this.#refused, uid, this.#ports.clock);
  }

  /** The last pods that were evicted for pods of a queue. */
  evictedFor(queue: string): readonly EvictedPod[] {
    return this.#evicted.get(queue) ?? [];
  }

  /**
   * The pods evicted for a queue that have not ended in time, if there are so many that no others are evicted for it.
   * `isHanging` says whether a pod is still there and should not be.
   */
  hangingFor(queue: string, isHanging: (uid: string) => boolean): readonly string[] {
    // Of former leaders it is known on which nodes they evicted, and one decision is about one node.
    const before = this.#ports.evictedBefore?.(queue) ?? [];
    const asked = new Map([
      ...before.map(({ uid, node }) => [uid, { queue, node, taker: node }] as const),
      ...this.#asked,
    ]);
    const hanging = [...asked].filter(([uid, each]) => each.queue === queue && isHanging(uid)).map(([, each]) => each);
    const decisions = new Set(hanging.map(({ taker }) => taker));
    return decisions.size < MAX_HANGING ? [] : [...new Set(hanging.map(({ node }) => node))].sort();
  }

  /** The pods count as leaving even before their evictions are requested. */
  announce(victims: readonly RunningPod[]): void {
    const until = this.#now + (this.#ports.unseenMs ?? UNSEEN_MS);
    for (const { uid } of victims) putBounded(this.#leaving, MAX_REMEMBERED, [uid, until]);
  }

  withdraw(victims: readonly RunningPod[]): void {
    for (const { uid } of victims) this.#leaving.delete(uid);
  }

  /**
   * Evicts announced pods one by one and stops at the first that stays. Resolves with whether the first one leaves. An
   * eviction with an unknown outcome may have taken effect, so its pod still counts as leaving.
   */
  async evictAll(victims: readonly RunningPod[], order: EvictionBatch): Promise<boolean> {
    for (const [index, victim] of victims.entries()) {
      const fate = await this.#evict(victim, order);
      if (fate === 'goes') continue;
      this.withdraw(victims.slice(fate === 'unknown' ? index + 1 : index));
      return index > 0;
    }
    return victims.length > 0;
  }

  get #now(): number {
    return this.#ports.clock.monotonic();
  }

  async #evict(victim: RunningPod, order: EvictionBatch): Promise<Fate> {
    const { term, isEnforcing, leading: signal } = this.#ports;
    if (!term.isHeld() || !isEnforcing() || signal.aborted) return 'stays';
    const decision = decisionIdOf(order.pod?.uid ?? order.queue, victim.uid);
    const outcome = await this.#request(victim, order.because, decision);
    const fate = FATES[outcome.kind] ?? 'stays';
    if (fate !== 'stays') this.#ports.pods.lost.reclaimed(victim.uid);
    if (outcome.kind === 'evicted') this.#remember(victim, order, decision);
    else if (fate === 'stays') this.#refuse(victim.uid);
    this.#report(outcome, victim, { ...order, decision });
    return fate;
  }

  #refuse(uid: string): void {
    putBounded(this.#refused, MAX_REMEMBERED, [uid, this.#now + (this.#ports.refusedMs ?? REFUSED_MS)]);
  }

  #request(victim: RunningPod, { code }: Because, decision: string): Promise<EvictionOutcome> {
    const { client, leading: signal } = this.#ports;
    const annotations = {
      [ANNOTATION_EVICTION_PART]: EVICTION_BY_QUEUES,
      [ANNOTATION_EVICTION_REASON]: code,
      [ANNOTATION_EVICTION_DECISION]: decision,
    };
    const { uid, graceSeconds } = victim;
    const grace = graceSeconds !== undefined && { gracePeriodSeconds: graceSeconds };
    return evictPod(client, { ...podAddress(victim), uid, ...grace, annotations, signal });
  }

  #remember(
    victim: RunningPod,
    { queue, pod: taker, because, textFor, nodeOf }: EvictionBatch,
    decision: string,
  ): void {
    const { clock, events } = this.#ports;
    const said = { code: because.code, text: textFor(victim), facts: {} };
    events.record(reclaimedEvent(victim, said));
    const { name: pod, uid } = victim;
    const evicted = { pod, uid, node: nodeOf(victim), decision, at: clock.now(), because: said };
    putBounded(this.#asked, MAX_REMEMBERED, [uid, { queue, node: nodeOf(victim), taker: taker?.uid ?? queue }]);
    putBounded(this.#evicted, MAX_REMEMBERED, [queue, [...this.evictedFor(queue), evicted].slice(-MAX_EVICTED)]);
  }

  #report(
    outcome: EvictionOutcome,
    { name, uid, queue }: RunningPod,
    order: EvictionBatch & { decision: string },
  ): void {
    const { log, metrics } = this.#ports;
    metrics.reclaimEvictions.add({ outcome: outcome.kind });
    const { because, decision } = order;
    const facts = {
      pod: name,
      uid,
      queue,
      for: order.pod?.name ?? `queue ${order.queue}`,
      decision,
      code: because.code,
    };
    if (outcome.kind === 'evicted') log.info(facts, 'Pod evicted to make room');
    else log.info({ ...facts, kind: outcome.kind, message: outcome.message }, 'Pod not evicted');
  }
}

/** What happens to a pod after its eviction was requested. */
type Fate = 'goes' | 'stays' | 'unknown';

const FATES: Readonly<Partial<Record<EvictionOutcome['kind'], Fate>>> = {
  evicted: 'goes',
  notFound: 'goes',
  uidMismatch: 'goes',
  timeout: 'unknown',
  unreachable: 'unknown',
  serverError: 'unknown',
};

function reclaimedEvent(victim: RunningPod, { text }: Because): EventRecord {
  return {
    regarding: podReference({ ...podAddress(victim), uid: victim.uid }),
    type: 'Warning',
    reason: EVENT_REASONS.reclaimed,
    note: `evicted: ${text}`,
    action: 'Evicting',
  };
}
