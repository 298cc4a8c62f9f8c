import { hash } from 'node:crypto';
import { type EvictedPod, MAX_EVICTED } from '#shared/domain/disruption/disruption.ts';
import type { Because } from '#shared/domain/model/because.ts';
import { putBounded } from '#shared/domain/model/memoize.ts';
import type { RoomStep, Seeker } from '#shared/domain/queue/make-room.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import {
  ANNOTATION_EVICTION_DECISION,
  ANNOTATION_EVICTION_REASON,
  COMPONENT_NAMES,
  EVENT_REASONS,
} from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { EventRecord, EventRecorder } from '#shared/kube/events/event-recorder.ts';
import { type EvictionOutcome, evictPod } from '#shared/kube/events/evict-pod.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import type { QueuedPods } from './queued-pods.ts';
import type { RoomPromise } from './room-state.ts';

export interface RoomMakerPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly pods: Pick<QueuedPods, 'get' | 'lost'>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: Pick<QueueMetrics, 'reclaimEvictions'>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  /** Aborts when this replica leads no longer. */
  readonly leading: AbortSignal;
}

/** A decision for which a node is set aside. */
export type StepOnNode = Extract<RoomStep, { readonly node: string }>;

/** An eviction that was refused is not asked for again sooner. */
const REFUSED_MS = 60_000;
/** An eviction that the watch does not show by then has not happened. */
const UNSEEN_MS = 30_000;
/** kube-scheduler forgets nominations when it is restarted, until the pod changes. */
const NOMINATE_AGAIN_MS = 10_000;
/** What keeps a node from being set aside hardly goes away faster. */
const FAILED_MS = 10_000;
const ATTEMPTS_MS = 600_000;
/** More than anybody asks about. */
const MAX_ATTEMPTS = 8;
const MAX_REMEMBERED = 10_000;
const OPTIONS = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

type Deadlines = Map<string, number>;

interface Promised extends Omit<RoomPromise, 'isBusy'> {
  readonly until: number;
}

/** Carries out decisions about room: sets nodes aside for pods, and evicts others from them. */
export class RoomMaker {
  readonly #ports: RoomMakerPorts;
  readonly #leaving: Deadlines = new Map();
  readonly #refused: Deadlines = new Map();
  readonly #nominated: Deadlines = new Map();
  readonly #evicted = new Map<string, readonly EvictedPod[]>();
  /** When pods were evicted for a pod, or no node could be set aside for it, by its UID. */
  readonly #attempts = new Map<string, readonly number[]>();
  /** Pods for which no node could be set aside. */
  readonly #failed: Deadlines = new Map();
  readonly #promises = new Map<string, Promised>();
  readonly #carriedOut = new Map<string, Promise<void>>();

  constructor(ports: RoomMakerPorts) {
    this.#ports = ports;
  }

  /** Whether a decision about the pod is being carried out, or could not be a short time ago. */
  isBusyWith(uid: string): boolean {
    return this.#carriedOut.has(uid) || isAhead(this.#failed, uid, this.#now);
  }

  /** How often it was tried to make room for the pod within ten minutes. */
  attemptsFor(uid: string): number {
    return (this.#attempts.get(uid) ?? []).filter((at) => this.#now - at < ATTEMPTS_MS).length;
  }

  /** The nodes that were set aside a short time ago. */
  promises(): readonly RoomPromise[] {
    const open = [...this.#promises.values()].filter(({ until }) => until > this.#now);
    return open.map(({ pod, node }) => ({ pod, node, isBusy: this.#carriedOut.has(pod.uid) }));
  }

  /** Whether the pod's eviction was asked for, which the watch does not show yet. */
  isLeaving(uid: string): boolean {
    return isAhead(this.#leaving, uid, this.#now);
  }

  /** Whether the pod's eviction was refused a short time ago. */
  isRefused(uid: string): boolean {
    return isAhead(this.#refused, uid, this.#now);
  }

  /**
   * Whether kube-scheduler may not know that the node is set aside for the pod. It takes the nomination off a pod without a
   * gate at each attempt that fails.
   */
  isForgotten({ pod, isGated, nominatedTo }: Seeker, node: string): boolean {
    return (isGated && nominatedTo !== node) || !isAhead(this.#nominated, pod.uid, this.#now);
  }

  /** The last pods that were evicted for pods of a queue. */
  evictedFor(queue: string): readonly EvictedPod[] {
    return this.#evicted.get(queue) ?? [];
  }

  /** Resolves when nothing is on its way to the API server any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#carriedOut.values());
  }

  /** Begins to carry a decision out; `floor` is the word for what queues are measured by. */
  carryOut(seeker: Seeker, step: StepOnNode, floor: string): void {
    const { uid } = seeker.pod;
    const carriedOut = this.#carryOut(seeker, step, floor).finally(() => this.#carriedOut.delete(uid));
    this.#carriedOut.set(uid, carriedOut);
  }

  /** The node is no longer set aside for the pod. */
  async giveUp(uid: string): Promise<void> {
    await this.#writeNomination(uid, null);
  }

  get #now(): number {
    return this.#ports.clock.monotonic();
  }

  /** The node is set aside before the first pod goes (S2-25); no further pod goes once one was refused. */
  async #carryOut(seeker: Seeker, step: StepOnNode, floor: string): Promise<void> {
    const { pod } = seeker;
    const victims = step.kind === 'Evict' ? step.victims : [];
    const until = this.#now + UNSEEN_MS;
    for (const { uid } of victims) putBounded(this.#leaving, MAX_REMEMBERED, [uid, until]);
    putBounded(this.#promises, MAX_REMEMBERED, [pod.uid, { pod, node: step.node, until }]);
    const isSetAside = await this.#nominate(seeker, step.node);
    if (!isSetAside) {
      this.#promises.delete(pod.uid);
      this.#noteAttempt(pod.uid);
    }
    const staying = isSetAside ? await this.#evictAll(victims, pod, step, floor) : victims;
    for (const { uid } of staying) this.#leaving.delete(uid);
  }

  /** Returns those that stay. An eviction of which nothing is known may have taken effect: the pod counts as leaving. */
  async #evictAll(victims: readonly RunningPod[], pod: WaitingPod, step: StepOnNode, floor: string) {
    for (const [index, victim] of victims.entries()) {
      const fate = await this.#evict(victim, pod, step, floor);
      if (index === 0 && fate === 'goes') this.#noteAttempt(pod.uid);
      if (fate !== 'goes') return victims.slice(fate === 'unknown' ? index + 1 : index);
    }
    return [];
  }

  #noteAttempt(uid: string): void {
    const before = this.#attempts.get(uid) ?? [];
    putBounded(this.#attempts, MAX_REMEMBERED, [uid, [...before, this.#now].slice(-MAX_ATTEMPTS)]);
  }

  async #nominate({ pod: { uid, name }, nominatedTo }: Seeker, node: string): Promise<boolean> {
    const { log } = this.#ports;
    // The same value again would be no change, and kube-scheduler would not learn of it.
    if (nominatedTo === node) await this.#writeNomination(uid, null);
    const outcome = await this.#writeNomination(uid, node);
    if (outcome === undefined) {
      putBounded(this.#nominated, MAX_REMEMBERED, [uid, this.#now + NOMINATE_AGAIN_MS]);
      return true;
    }
    log.warn({ pod: name, node, ...outcome }, 'Node not set aside');
    putBounded(this.#failed, MAX_REMEMBERED, [uid, this.#now + FAILED_MS]);
    return false;
  }

  async #writeNomination(uid: string, nominatedNodeName: string | null) {
    const { client, pods, term, leading: signal } = this.#ports;
    const pod = pods.get(uid);
    if (pod === undefined || !term.isHeld())
      return { kind: 'outdated', message: 'the pod is gone, or another replica leads' };
    const address = { resource: PODS, namespace: pod.namespace, name: pod.name, subresource: 'status' };
    const patch = { metadata: { uid }, status: { nominatedNodeName } };
    const outcome = await patchObject(client, address, patch, { ...OPTIONS, type: 'merge', signal });
    return outcome.kind === 'ok' ? undefined : { kind: outcome.kind, message: outcome.message };
  }

  async #evict(victim: RunningPod, pod: WaitingPod, { because, node }: StepOnNode, floor: string): Promise<Fate> {
    const { client, log, metrics, pods, term, leading: signal } = this.#ports;
    if (!term.isHeld() || signal.aborted) return 'stays';
    const [namespace = '', name = ''] = victim.name.split('/');
    const decision = decisionId(pod, victim);
    const annotations = { [ANNOTATION_EVICTION_REASON]: because.code, [ANNOTATION_EVICTION_DECISION]: decision };
    const outcome = await evictPod(client, { namespace, name, uid: victim.uid, annotations, signal });
    metrics.reclaimEvictions.add({ outcome: outcome.kind });
    const facts = {
      pod: victim.name,
      uid: victim.uid,
      queue: victim.queue,
      for: pod.name,
      decision,
      code: because.code,
    };
    const fate = fateAfter(outcome);
    if (fate !== 'stays') pods.lost.reclaimed(victim.uid);
    if (outcome.kind !== 'evicted') {
      log.info({ ...facts, kind: outcome.kind, message: outcome.message }, 'Pod not evicted');
      if (fate === 'stays') putBounded(this.#refused, MAX_REMEMBERED, [victim.uid, this.#now + REFUSED_MS]);
      return fate;
    }
    log.info(facts, 'Pod evicted to make room');
    const text = whyEvicted(victim, pod, floor);
    this.#remember(pod.queue, victim, { node, decision, because: { code: because.code, text, facts: {} } });
    return fate;
  }

  #remember(queue: string, victim: RunningPod, said: Pick<EvictedPod, 'node' | 'decision' | 'because'>): void {
    const { clock, events } = this.#ports;
    events.record(reclaimedEvent(victim, said.because));
    const evicted = { ...said, pod: victim.name, uid: victim.uid, at: clock.now() };
    putBounded(this.#evicted, MAX_REMEMBERED, [queue, [...this.evictedFor(queue), evicted].slice(-MAX_EVICTED)]);
  }
}

/** What becomes of a pod whose eviction was asked for. */
type Fate = 'goes' | 'stays' | 'unknown';

const FATES: Readonly<Partial<Record<EvictionOutcome['kind'], Fate>>> = {
  ...{ evicted: 'goes', notFound: 'goes', uidMismatch: 'goes' },
  ...{ timeout: 'unknown', unreachable: 'unknown', serverError: 'unknown' },
};

function fateAfter({ kind }: EvictionOutcome): Fate {
  return FATES[kind] ?? 'stays';
}

function isAhead(deadlines: Deadlines, uid: string, now: number): boolean {
  return (deadlines.get(uid) ?? -Infinity) > now;
}

const ID_LENGTH = 12;

/** Identifies an eviction by what it was decided on. */
function decisionId({ uid }: WaitingPod, victim: RunningPod): string {
  return hash('sha256', JSON.stringify([uid, victim.uid]), 'hex').slice(0, ID_LENGTH);
}

/** Names no pod of another namespace. */
function whyEvicted(victim: RunningPod, taker: WaitingPod, floor: string): string {
  const last = victim.mayBePreempted ? '' : '; it asked to be spared, but no other pods make room';
  return `queue ${taker.queue} is under its ${floor}, and queue ${victim.queue} over its own${last}`;
}

function reclaimedEvent({ name: key, uid }: RunningPod, { text }: Because): EventRecord {
  const [namespace = '', name = ''] = key.split('/');
  return {
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: 'Warning',
    reason: EVENT_REASONS.reclaimed,
    note: `evicted: ${text}`,
    action: 'Evicting',
  };
}
