import { hash } from 'node:crypto';
import { type Because, reason } from '#shared/domain/model/because.ts';
import { putBounded } from '#shared/domain/model/memoize.ts';
import { makeRoomInSteps, type RoomStep, type Seeker, type SeekerStep } from '#shared/domain/queue/make-room.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import {
  ANNOTATION_EVICTION_DECISION,
  ANNOTATION_EVICTION_REASON,
  COMPONENT_NAMES,
  EVENT_REASONS,
} from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { EventRecord, EventRecorder } from '#shared/kube/events/event-recorder.ts';
import { evictPod } from '#shared/kube/events/evict-pod.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { PODS } from '#shared/kube/resource.ts';
import { inSlices } from '#shared/runtime/turns/turns.ts';
import type { QueuePlan } from './plan-pass.ts';
import { isWaiting, type QueuedPods } from './queued-pods.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import { readRoomState, type RoomInput, seekersOf } from './room-state.ts';

export interface ReclaimPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly mode: 'DryRun' | 'Enforce';
  readonly pods: QueuedPods;
  readonly snapshot: ClusterSnapshot;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: Pick<QueueMetrics, 'reclaims' | 'reclaimEvictions'>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
  /** Aborts when this replica leads no longer. */
  readonly leading: AbortSignal;
  /** Takes gates off. */
  readonly letIn: (pods: readonly WaitingPod[], signal: AbortSignal) => Promise<void>;
}

/** Looked at in one round; the next ones have to wait for these anyhow. */
const MAX_SEEKERS = 20;
/** What stands in the way of a pod hardly goes away faster. */
const AGAIN_MS = 10_000;
/** An eviction that was refused is not asked for again sooner. */
const REFUSED_MS = 60_000;
/** An eviction that the watch does not show by then has not happened. */
const UNSEEN_MS = 30_000;
/** kube-scheduler forgets nominations when it is restarted, until the pod changes. */
const NOMINATE_AGAIN_MS = 10_000;
/** For one pod, so that a cluster in which no victim ever goes is not emptied for it. */
const MAX_DECISIONS = 3;
const DECISIONS_MS = 600_000;
const MAX_REMEMBERED = 10_000;
const OPTIONS = { fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

type Deadlines = Map<string, number>;

/**
 * Makes room for pods whose queue is under its guarantee, in rounds: the node is set aside for the pod, then others are
 * evicted from it, and when they are gone the gate comes off. What a round finds is what the cluster shows: the nomination
 * of a pod that waits behind its gate is the record of the decision, so that the next leader goes on with it.
 */
export class Reclaim {
  readonly #ports: ReclaimPorts;
  readonly #leaving: Deadlines = new Map();
  readonly #refused: Deadlines = new Map();
  readonly #again: Deadlines = new Map();
  readonly #nominated: Deadlines = new Map();
  readonly #decisions = new Map<string, readonly number[]>();
  readonly #carriedOut = new Map<string, Promise<void>>();
  /** What was found last for each pod for which room is sought. */
  #found: ReadonlyMap<string, Because> = new Map();
  /** The pods for which a node may be set aside, by the last round. */
  #expecting: ReadonlySet<string> = new Set();

  constructor(ports: ReclaimPorts) {
    this.#ports = ports;
  }

  /** Why a pod that is held back for room still waits. */
  whyWaiting(uid: string): Because | undefined {
    return this.#found.get(uid);
  }

  /** Resolves when nothing is on its way to the API server any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#carriedOut.values());
  }

  /** Makes one round, by the last plan. Evictions go on after it; their victims count as gone for the next one. */
  async round(plan: QueuePlan, signal: AbortSignal): Promise<void> {
    const { clock, mode } = this.#ports;
    forgetPast([this.#leaving, this.#refused, this.#again], clock.monotonic());
    const input = this.#inputOf(plan);
    const due = seekersOf(input).filter(({ pod }) => this.#isDue(pod.uid));
    const steps = due.length === 0 ? [] : await this.#decide(input, due.slice(0, MAX_SEEKERS), signal);
    this.#report(steps);
    if (mode === 'DryRun') return;
    await this.#clearNominations(plan, signal);
    for (const each of steps) this.#follow(each);
    const open = steps.filter(({ seeker, step }) => seeker.isGated && isOpen(step)).map(({ seeker }) => seeker.pod);
    if (open.length > 0) await this.#ports.letIn(open, signal);
  }

  #inputOf(plan: QueuePlan): RoomInput {
    const { pods, snapshot, clock } = this.#ports;
    const isLeaving = (uid: string): boolean => this.#leaving.has(uid);
    const isRefused = (uid: string): boolean => this.#refused.has(uid);
    return { plan, pods, snapshot, now: clock.now(), isLeaving, isRefused };
  }

  #isDue(uid: string): boolean {
    return !this.#carriedOut.has(uid) && (this.#again.get(uid) ?? 0) <= this.#ports.clock.monotonic();
  }

  async #decide(input: RoomInput, seekers: readonly Seeker[], signal: AbortSignal): Promise<readonly SeekerStep[]> {
    const { clock } = this.#ports;
    const state = await inSlices(readRoomState(input), clock, signal);
    const steps = await inSlices(makeRoomInSteps(state, seekers, input.now), clock, signal);
    if (this.#ports.mode === 'DryRun') return steps;
    return steps.map((each) =>
      each.step.kind === 'Evict' && !this.#mayDecide(each.seeker.pod.uid) ? givenUp(each) : each,
    );
  }

  /** Each change of a decision once. */
  #report(steps: readonly SeekerStep[]): void {
    const { log, metrics, mode } = this.#ports;
    for (const { seeker, step } of steps) {
      const { uid, name, queue } = seeker.pod;
      if (this.#found.get(uid)?.text === step.because.text) continue;
      metrics.reclaims.add({ decision: step.kind, mode });
      if (step.kind === 'None' && mode === 'Enforce') this.#tellNone(seeker.pod, step.because);
      if (step.kind !== 'Evict') continue;
      const { node, victims, isLastResort, because } = step;
      const facts = { pod: name, queue, node, isLastResort, because, victims: victims.map((each) => each.name) };
      log.info(facts, mode === 'DryRun' ? 'Would reclaim room (dry run)' : 'Room is reclaimed');
    }
    this.#found = new Map(steps.map(({ seeker, step }) => [seeker.pod.uid, step.because]));
    this.#expecting = new Set(steps.filter(({ step }) => step.kind !== 'None').map(({ seeker }) => seeker.pod.uid));
  }

  /** The pod is told; while it waits for its delay, the Event about its waiting does. */
  #tellNone({ name: key, uid, queue }: WaitingPod, because: Because): void {
    if (because.code === EARLY) return;
    const [namespace = '', name = ''] = key.split('/');
    const regarding = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
    const reasonOf = EVENT_REASONS.noRoomReclaimed;
    this.#ports.events.record({ regarding, type: 'Normal', reason: reasonOf, note: because.text, action: 'Reclaim' });
    this.#ports.log.info({ pod: key, queue, because }, 'No pods make room');
  }

  #follow({ seeker, step }: SeekerStep): void {
    const { uid } = seeker.pod;
    const now = this.#ports.clock.monotonic();
    if (step.kind === 'Evict' || (step.kind === 'Await' && this.#isForgotten(seeker, step.node, now))) {
      const carriedOut = this.#carryOut(seeker, step).finally(() => this.#carriedOut.delete(uid));
      this.#carriedOut.set(uid, carriedOut);
    } else if (step.kind === 'None' && !isEarly(step)) putBounded(this.#again, MAX_REMEMBERED, [uid, now + AGAIN_MS]);
  }

  /** kube-scheduler takes the nomination off a pod without a gate at each attempt that fails. */
  #isForgotten({ pod, isGated, nominatedTo }: Seeker, node: string, now: number): boolean {
    return (isGated && nominatedTo !== node) || (this.#nominated.get(pod.uid) ?? 0) <= now;
  }

  #mayDecide(uid: string): boolean {
    const now = this.#ports.clock.monotonic();
    const recent = (this.#decisions.get(uid) ?? []).filter((at) => now - at < DECISIONS_MS);
    if (recent.length >= MAX_DECISIONS) return false;
    putBounded(this.#decisions, MAX_REMEMBERED, [uid, [...recent, now]]);
    return true;
  }

  /** The node is set aside before the first pod goes (S2-25); no further pod goes once one was refused. */
  async #carryOut(seeker: Seeker, step: RoomStep & { readonly node: string }): Promise<void> {
    const { leading: signal } = this.#ports;
    const victims = step.kind === 'Evict' ? step.victims : [];
    const until = this.#ports.clock.monotonic() + UNSEEN_MS;
    for (const { uid } of victims) putBounded(this.#leaving, MAX_REMEMBERED, [uid, until]);
    let left = victims;
    if (await this.#nominate(seeker, step.node, signal)) {
      while (left[0] !== undefined && (await this.#evict(left[0], seeker, step, signal))) left = left.slice(1);
    }
    for (const { uid } of left) this.#leaving.delete(uid);
  }

  async #nominate({ pod: { uid, name }, nominatedTo }: Seeker, node: string, signal: AbortSignal): Promise<boolean> {
    const { clock, log } = this.#ports;
    // The same value again would be no change, and kube-scheduler would not learn of it.
    if (nominatedTo === node) await this.#writeNomination(uid, null, signal);
    const outcome = await this.#writeNomination(uid, node, signal);
    if (outcome === undefined) {
      putBounded(this.#nominated, MAX_REMEMBERED, [uid, clock.monotonic() + NOMINATE_AGAIN_MS]);
      return true;
    }
    log.warn({ pod: name, node, ...outcome }, 'Node not set aside');
    return false;
  }

  async #writeNomination(uid: string, nominatedNodeName: string | null, signal: AbortSignal) {
    const { client, pods, term } = this.#ports;
    const pod = pods.get(uid);
    if (pod === undefined || !term.isHeld())
      return { kind: 'outdated', message: 'the pod is gone, or another replica leads' };
    const address = { resource: PODS, namespace: pod.namespace, name: pod.name, subresource: 'status' };
    const patch = { metadata: { uid }, status: { nominatedNodeName } };
    const outcome = await patchObject(client, address, patch, { ...OPTIONS, type: 'merge', signal });
    return outcome.kind === 'ok' ? undefined : { kind: outcome.kind, message: outcome.message };
  }

  async #evict(victim: RunningPod, { pod }: Seeker, { because }: RoomStep, signal: AbortSignal): Promise<boolean> {
    const { client, clock, events, log, metrics, term } = this.#ports;
    if (!term.isHeld() || signal.aborted) return false;
    const [namespace = '', name = ''] = victim.name.split('/');
    const decision = decisionId(pod, victim);
    const annotations = { [ANNOTATION_EVICTION_REASON]: because.code, [ANNOTATION_EVICTION_DECISION]: decision };
    const outcome = await evictPod(client, { namespace, name, uid: victim.uid, annotations, signal });
    metrics.reclaimEvictions.add({ outcome: outcome.kind });
    const facts = { pod: victim.name, uid: victim.uid, queue: victim.queue, for: pod.name, decision };
    if (outcome.kind !== 'evicted') {
      log.info({ ...facts, kind: outcome.kind, message: outcome.message }, 'Pod not evicted');
      putBounded(this.#refused, MAX_REMEMBERED, [victim.uid, clock.monotonic() + REFUSED_MS]);
      return false;
    }
    log.info({ ...facts, code: because.code }, 'Pod evicted to make room');
    events.record(reclaimedEvent(victim, pod, because));
    return true;
  }

  /** A node stays set aside only as long as a round finds that the pod will get it. */
  async #clearNominations({ held, seeking }: QueuePlan, signal: AbortSignal): Promise<void> {
    const { pods } = this.#ports;
    for (const { uid } of [...held, ...seeking]) {
      const pod = pods.get(uid);
      if (pod === undefined || !isWaiting(pod) || pod.unplaced?.status.nominatedNodeName === undefined) continue;
      if (!this.#carriedOut.has(uid) && !this.#expecting.has(uid)) await this.#writeNomination(uid, null, signal);
    }
  }
}

const EARLY = 'NotAboveDelay';

function isEarly({ because }: RoomStep): boolean {
  return because.code === EARLY;
}

/** Whether the gate comes off: there is room, or none can be made, and then autoscalers have to see the pod. */
function isOpen(step: RoomStep): boolean {
  return step.kind === 'Room' || (step.kind === 'None' && !isEarly(step));
}

const GIVEN_UP = reason<object>(
  'GivenUp',
  () => `pods were evicted for it ${MAX_DECISIONS} times within ten minutes, and it did not get the room`,
);

function givenUp({ seeker }: SeekerStep): SeekerStep {
  return { seeker, step: { kind: 'None', because: GIVEN_UP({}) } };
}

function forgetPast(all: readonly Deadlines[], now: number): void {
  for (const deadlines of all) for (const [uid, until] of deadlines) if (until <= now) deadlines.delete(uid);
}

const ID_LENGTH = 12;

/** Identifies an eviction by what it was decided on. */
function decisionId({ uid }: WaitingPod, victim: RunningPod): string {
  return hash('sha256', JSON.stringify([uid, victim.uid]), 'hex').slice(0, ID_LENGTH);
}

/** Names no pod of another namespace. */
function reclaimedEvent({ name: key, uid, queue }: RunningPod, taker: WaitingPod, { code }: Because): EventRecord {
  const [namespace = '', name = ''] = key.split('/');
  const last = code === 'LastResort' ? '; it asked to be spared, but no other pods make room' : '';
  return {
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: 'Warning',
    reason: EVENT_REASONS.reclaimed,
    note: `evicted: queue ${taker.queue} is under its guarantee, and queue ${queue} over its own${last}`,
    action: 'Evicting',
  };
}
