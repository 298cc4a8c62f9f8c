import type { EvictedPod } from '#shared/domain/disruption/disruption.ts';
import { type Because, reason } from '#shared/domain/model/because.ts';
import { putBounded } from '#shared/domain/model/memoize.ts';
import { floorOf } from '#shared/domain/queue/laws.ts';
import { makeRoomInSteps, type RoomStep, type Seeker, type SeekerStep } from '#shared/domain/queue/make-room.ts';
import { endOveruse, overusedQueues } from '#shared/domain/queue/overuse.ts';
import type { Queue } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { inSlices } from '#shared/runtime/turns/turns.ts';
import type { QueuePlan } from './plan-pass.ts';
import { isWaiting, type QueuedPods } from './queued-pods.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import { RoomMaker, type RoomMakerPorts } from './room-maker.ts';
import { readRoomState, type RoomInput, seekersOf } from './room-state.ts';

export interface ReclaimPorts extends RoomMakerPorts {
  readonly mode: 'DryRun' | 'Enforce';
  /** Whether a queue that uses more than its maximum has to give back what is above. */
  readonly overuse: 'Off' | 'On';
  readonly pods: QueuedPods;
  readonly snapshot: ClusterSnapshot;
  readonly metrics: Pick<QueueMetrics, 'reclaims' | 'reclaimEvictions'>;
  /** Takes gates off. */
  readonly letIn: (pods: readonly WaitingPod[], signal: AbortSignal) => Promise<void>;
}

/** Looked at in one round; the next ones have to wait for these anyhow. */
const MAX_SEEKERS = 20;
/** What stands in the way of a pod hardly goes away faster. */
const AGAIN_MS = 10_000;
/** The delay of a queue is not kept more exactly than this. */
const EARLY_MS = 1_000;
/** For one pod, so that a cluster in which no victim ever goes is not emptied for it. */
const MAX_ATTEMPTS = 3;
/** Longer than until the pod is looked at again. */
const BLOCKED_MS = 3 * AGAIN_MS;
const MAX_REMEMBERED = 10_000;

/**
 * Makes room for pods whose queue is under its guarantee, in rounds: the node is set aside for the pod, then others are
 * evicted from it, and when they are gone the gate comes off. What a round finds is what the cluster shows: the nomination
 * of a pod that waits behind its gate is the record of the decision, so that the next leader goes on with it.
 */
export class Reclaim {
  readonly #ports: ReclaimPorts;
  readonly #maker: RoomMaker;
  /** Until when a pod is not looked at again, by the monotonic clock. */
  readonly #again = new Map<string, number>();
  readonly #blocked = new Map<string, { readonly because: Because; readonly until: number }>();
  /** Since when queues use more than their maximum, or were told to end it. */
  readonly #overSince = new Map<string, number>();
  /** What was found last for each pod for which room is sought. */
  readonly #found = new Map<string, Because>();

  constructor(ports: ReclaimPorts) {
    this.#ports = ports;
    this.#maker = new RoomMaker(ports);
  }

  /** Why a pod that is held back for room still waits. */
  whyWaiting(uid: string): Because | undefined {
    return this.#found.get(uid);
  }

  /** The last pods that were evicted for pods of a queue, in this term. */
  evictedFor(queue: string): readonly EvictedPod[] {
    return this.#maker.evictedFor(queue);
  }

  /** What keeps the pods of a queue from getting room that it may reclaim: a budget, by name. */
  blockedFor(queue: string): Because | undefined {
    const blocked = this.#blocked.get(queue);
    return blocked !== undefined && this.#ports.clock.monotonic() < blocked.until ? blocked.because : undefined;
  }

  /** Resolves when nothing is on its way to the API server any more. */
  async settled(): Promise<void> {
    await this.#maker.settled();
  }

  /** Makes one round, by the last plan. Evictions go on after it; their victims count as gone for the next one. */
  async round(plan: QueuePlan, signal: AbortSignal): Promise<void> {
    const steps = await this.#stepsFor(plan, signal);
    this.#report(steps);
    this.#rest(steps);
    if (this.#ports.mode === 'DryRun') return;
    await this.#giveNodesUp(plan, steps);
    for (const each of steps) this.#follow(each, floorOf({ tree: plan.floors }));
    const open = steps.filter(({ seeker, step }) => seeker.isGated && isOpen(step)).map(({ seeker }) => seeker.pod);
    if (open.length > 0) await this.#ports.letIn(open, signal);
    if (this.#ports.overuse === 'On') await this.#endOveruse(plan, signal);
  }

  async #endOveruse(plan: QueuePlan, signal: AbortSignal): Promise<void> {
    const { clock } = this.#ports;
    const due = this.#overused(plan);
    if (due.length === 0) return;
    const state = await inSlices(readRoomState(this.#inputOf(plan)), clock, signal);
    for (const overuse of await inSlices(endOveruse(state, due), clock, signal)) {
      const { queue, victims, because } = overuse;
      this.#overSince.set(queue, clock.monotonic());
      this.#ports.log.info({ queue, because, victims: victims.map(({ pod }) => pod.name) }, 'Queue above its maximum');
      if (victims.length > 0) this.#maker.endOveruse(overuse);
    }
  }

  /** The queues that have used more than their maximum for their delay, by number. */
  #overused({ directory: { tree }, question }: QueuePlan): readonly number[] {
    const now = this.#ports.clock.monotonic();
    const over = overusedQueues(tree, question.usage);
    const names = new Set(over.map((index) => tree.queues[index]?.name ?? ''));
    for (const name of this.#overSince.keys()) if (!names.has(name)) this.#overSince.delete(name);
    for (const name of names) if (!this.#overSince.has(name)) this.#overSince.set(name, now);
    return over.filter((index) => {
      const { name, preemption } = tree.queues[index] as Queue;
      const isDue = now - (this.#overSince.get(name) ?? now) >= preemption.delayMs;
      return isDue && !this.#maker.isEndingOveruse(name);
    });
  }

  /** What cannot be decided holds no pod back. */
  async #stepsFor(plan: QueuePlan, signal: AbortSignal): Promise<readonly SeekerStep[]> {
    try {
      const input = this.#inputOf(plan);
      const due = seekersOf(input).filter(({ pod }) => this.#isDue(pod.uid));
      return due.length === 0 ? [] : await this.#decide(input, due.slice(0, MAX_SEEKERS), signal);
    } catch (error) {
      await this.#ports.letIn(plan.seeking, signal);
      throw error;
    }
  }

  #inputOf(plan: QueuePlan): RoomInput {
    const { pods, snapshot, clock } = this.#ports;
    const isLeaving = (uid: string): boolean => this.#maker.isLeaving(uid);
    const isRefused = (uid: string): boolean => this.#maker.isRefused(uid);
    return { plan, pods, snapshot, now: clock.now(), isLeaving, isRefused, promises: this.#maker.promises() };
  }

  #isDue(uid: string): boolean {
    return !this.#maker.isBusyWith(uid) && (this.#again.get(uid) ?? 0) <= this.#ports.clock.monotonic();
  }

  async #decide(input: RoomInput, seekers: readonly Seeker[], signal: AbortSignal): Promise<readonly SeekerStep[]> {
    const { clock } = this.#ports;
    const state = await inSlices(readRoomState(input), clock, signal);
    const steps = await inSlices(makeRoomInSteps(state, seekers, input.now), clock, signal);
    if (this.#ports.mode === 'DryRun') return steps;
    return steps.map((each) => (this.#isTriedInVain(each) ? givenUp(each) : each));
  }

  #isTriedInVain({ seeker, step }: SeekerStep): boolean {
    const isNew = step.kind === 'Evict' || (step.kind === 'Await' && seeker.nominatedTo !== step.node);
    return isNew && this.#maker.attemptsFor(seeker.pod.uid) >= MAX_ATTEMPTS;
  }

  /** Each change of a decision once. */
  #report(steps: readonly SeekerStep[]): void {
    const { log, metrics, mode } = this.#ports;
    for (const { seeker, step } of steps) {
      const { uid, name, queue } = seeker.pod;
      this.#noteBlocked(queue, step.because);
      const before = this.#found.get(uid);
      putBounded(this.#found, MAX_REMEMBERED, [uid, step.because]);
      if (before?.text === step.because.text) continue;
      metrics.reclaims.add({ decision: step.kind, mode });
      if (step.kind === 'None' && mode === 'Enforce') this.#tellNone(seeker.pod, step.because);
      if (step.kind !== 'Evict') continue;
      const { node, victims, isLastResort, because } = step;
      const facts = { pod: name, queue, node, isLastResort, because, victims: victims.map((each) => each.name) };
      log.info(facts, mode === 'DryRun' ? 'Would reclaim room (dry run)' : 'Room is reclaimed');
    }
  }

  #noteBlocked(queue: string, because: Because): void {
    if (because.code !== BLOCKED) return;
    putBounded(this.#blocked, MAX_REMEMBERED, [queue, { because, until: this.#ports.clock.monotonic() + BLOCKED_MS }]);
  }

  /** The pod is told; while it waits for its delay, the Event about its waiting does. */
  #tellNone({ name: key, uid, queue }: WaitingPod, because: Because): void {
    if (because.code === EARLY) return;
    const [namespace = '', name = ''] = key.split('/');
    const regarding = { apiVersion: 'v1', kind: 'Pod', namespace, name, uid };
    const reasonOf = EVENT_REASONS.noRoomReclaimed;
    this.#ports.events.record({ regarding, type: 'Normal', reason: reasonOf, note: because.text, action: 'Reclaim' });
    this.#ports.log.info({ pod: key, queue, because }, 'No room to reclaim');
  }

  #follow({ seeker, step }: SeekerStep, floor: string): void {
    if (step.kind === 'Evict' || (step.kind === 'Await' && this.#maker.isForgotten(seeker, step.node)))
      this.#maker.carryOut(seeker, step, floor);
  }

  /** In a dry run nothing changes, so that no pod is worth another look soon. */
  #rest(steps: readonly SeekerStep[]): void {
    const { clock, mode } = this.#ports;
    const now = clock.monotonic();
    for (const { seeker, step } of steps) {
      const isOver = mode === 'DryRun' || (step.kind === 'None' && !isEarly(step));
      const pauseMs = isOver ? AGAIN_MS : step.kind === 'None' ? EARLY_MS : 0;
      if (pauseMs > 0) putBounded(this.#again, MAX_REMEMBERED, [seeker.pod.uid, now + pauseMs]);
    }
  }

  /** A node stays set aside only for a pod that may get it: not for one that waits for its queue, or that finds no room. */
  async #giveNodesUp({ held, homeless }: QueuePlan, steps: readonly SeekerStep[]): Promise<void> {
    const none = steps.filter(({ step }) => step.kind === 'None').map(({ seeker }) => seeker.pod);
    for (const { uid } of [...held, ...homeless.map(({ pod }) => pod), ...none]) {
      const pod = this.#ports.pods.get(uid);
      if (pod === undefined || !isWaiting(pod) || this.#maker.isBusyWith(uid)) continue;
      if (pod.unplaced?.status.nominatedNodeName !== undefined) await this.#maker.giveUp(uid);
    }
  }
}

const EARLY = 'NotAboveDelay';
const BLOCKED = 'ReclaimBlocked';

function isEarly({ because }: RoomStep): boolean {
  return because.code === EARLY;
}

/** Whether the gate comes off: there is room, or none can be made, and then autoscalers have to see the pod. */
function isOpen(step: RoomStep): boolean {
  return step.kind === 'Room' || (step.kind === 'None' && !isEarly(step));
}

const GIVEN_UP = reason<object>(
  'GivenUp',
  () => `the leader tried ${MAX_ATTEMPTS} times within ten minutes to make room for it, and it did not get any`,
);

function givenUp({ seeker }: SeekerStep): SeekerStep {
  return { seeker, step: { kind: 'None', because: GIVEN_UP({}) } };
}
