import type { EvictedPod } from '#shared/domain/disruption/disruption.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { floorOf } from '#shared/domain/queue/reclaim-rules.ts';
import {
  groupsOf,
  makeRoomInSteps,
  type Seeker,
  type SeekerStep,
  wholeGroups,
} from '#shared/domain/queue/make-room.ts';
import { podAddress, type WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { ReclaimSettings } from '#shared/domain/queue/reclaim-settings.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { podReference } from '#shared/kube/events/event-recorder.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import type { QueueMetrics } from './queue-metrics.ts';
import { type Deadlines, isAhead, QueueEvictions } from './queue-evictions.ts';
import { QueueOveruse } from './queue-overuse.ts';
import { RoomMaker, type RoomMakerPorts } from './room-maker.ts';
import {
  BLOCKED,
  EARLY,
  firstOf,
  givenUp,
  isEarly,
  isOpen,
  tooLargeIn,
  TRIED_IN_VAIN,
  VICTIMS_HANG,
} from './reclaim-steps.ts';
import { requestEach } from './open-requests.ts';
import { staleNominations } from './stale-nominations.ts';
import type { StartGangs } from './start-gangs.ts';
import { isHanging, readRoomState, type RoomInput } from '#shared/decide/queues/room-state.ts';
import { seekersOf } from '#shared/decide/queues/seekers.ts';

export interface ReclaimPorts extends Omit<RoomMakerPorts, 'isEnforcing'> {
  /** As the queue root says now. */
  readonly settings: () => Pick<ReclaimSettings, 'mode' | 'overuse'>;
  readonly pods: QueuedPods;
  readonly snapshot: ClusterSnapshot;
  readonly ownerDisruptedAt?: RoomInput['ownerDisruptedAt'] | undefined;
  readonly metrics: Pick<QueueMetrics, 'reclaims' | 'reclaimEvictions'>;
  readonly gangs?: Pick<StartGangs, 'isStarting' | 'standAside' | 'start'>;
  /** Removes scheduling gates. */
  readonly letIn: (pods: readonly WaitingPod[], signal: AbortSignal) => Promise<void>;
}

/** Obstacles rarely disappear faster. */
const AGAIN_MS = 10_000;
/** The delay of a queue is met with this accuracy. */
const EARLY_MS = 1_000;
/** Longer than the pause between two attempts for a pod. */
const BLOCKED_MS = 3 * AGAIN_MS;
/** Longer than kube-scheduler takes to place a pod once the last victim is gone. */
const MADE_MS = 30_000;
const MAX_REMEMBERED = 10_000;

/**
 * Makes room, in rounds, for pods whose queue is under its guarantee: it sets a node aside for the pod, evicts other
 * pods from it, and removes the gate when they are gone. It keeps no record of its own. The nomination of a gated pod
 * records the decision, so the next leader continues from there.
 */
export class Reclaim {
  readonly #ports: ReclaimPorts;
  readonly #evictions: QueueEvictions;
  readonly #maker: RoomMaker;
  readonly #overuse: QueueOveruse;
  /** When each pod may be examined again. */
  readonly #again: Deadlines = new Map();
  readonly #blocked = new Map<string, { readonly because: Because; readonly until: number }>();
  /** Until when the room that is made for a pod counts as its own. */
  readonly #made: Deadlines = new Map();
  /** The latest finding for each pod that needs room. */
  readonly #found = new Map<string, Because>();

  constructor(ports: ReclaimPorts) {
    this.#ports = ports;
    const writing = { ...ports, isEnforcing: () => this.#isEnforcing };
    this.#evictions = new QueueEvictions(writing);
    this.#maker = new RoomMaker(writing, this.#evictions);
    this.#overuse = new QueueOveruse(ports, this.#evictions);
  }

  /** Whether pods were evicted for the pod, or are leaving for it. */
  isMakingRoomFor(uid: string): boolean {
    return isAhead(this.#made, uid, this.#ports.clock);
  }

  /** Why a pod still waits for room. */
  whyWaiting(uid: string): Because | undefined {
    return this.#found.get(uid);
  }

  /** The last pods that were evicted for pods of a queue, in this term. */
  evictedFor(queue: string): readonly EvictedPod[] {
    return this.#evictions.evictedFor(queue);
  }

  /** The budget that keeps the pods of a queue from reclaiming room. */
  blockedFor(queue: string): Because | undefined {
    const blocked = this.#blocked.get(queue);
    return blocked !== undefined && this.#ports.clock.monotonic() < blocked.until ? blocked.because : undefined;
  }

  /** Another kube-scheduler took over. It knows no set-aside nodes. */
  onSchedulerTakeover(): void {
    this.#maker.forgetNominations();
  }

  /** Resolves when no request to the API server is open. */
  async settled(): Promise<void> {
    await Promise.all([this.#maker.settled(), this.#overuse.settled()]);
  }

  /**
   * Carries out the two stages of the last plan: first, queues above their maximum give back the excess; then room is
   * made for pods. Evictions continue after the round; their victims count as gone at once.
   */
  async round(plan: QueuePlan, signal: AbortSignal): Promise<void> {
    const { mode, overuse } = this.#ports.settings();
    try {
      if (mode === 'Enforce' && overuse === 'Evict') await this.#overuse.end(plan, this.#inputOf(plan), signal);
    } finally {
      if (mode === 'Disabled') this.#found.clear();
      else await this.#makeRoom(plan, signal);
      // What was set aside while room was made must not stay so once none is.
      if (!this.#isEnforcing) await this.#giveUp(this.#claimsAmong(plan, plan.seeking), signal);
    }
  }

  get #isEnforcing(): boolean {
    return this.#ports.settings().mode === 'Enforce';
  }

  async #giveUp(claims: Steps<readonly string[]>, signal: AbortSignal): Promise<void> {
    const uids = await inChunks(claims, this.#ports.clock, signal);
    // A leader that was killed may have left those of a large gang.
    await requestEach(uids, (uid) => this.#maker.giveUp(uid, signal));
  }

  async #makeRoom(plan: QueuePlan, signal: AbortSignal): Promise<void> {
    const steps = await this.#stepsFor(plan, signal);
    this.#report(steps);
    this.#rest(steps);
    if (!this.#isEnforcing) return;
    const roomless = steps.filter(({ step }) => step.kind === 'None').map(({ seeker }) => seeker.pod);
    await this.#giveUp(this.#claimsAmong(plan, roomless), signal);
    for (const { seeker, step } of steps) {
      if (step.kind === 'Evict' || step.kind === 'Await')
        putBounded(this.#made, MAX_REMEMBERED, [seeker.pod.uid, this.#ports.clock.monotonic() + MADE_MS]);
    }
    for (const each of steps) this.#follow(each, floorOf({ tree: plan.floors }));
    const open = steps.filter(isOpen).map(({ seeker }) => seeker.pod);
    if (open.length > 0) await this.#ports.letIn(open, signal);
    await this.#followGangs(steps, signal);
  }

  /** A gang for which there is room starts as any other; one for which none can be made lets others pass. */
  async #followGangs(steps: readonly SeekerStep[], signal: AbortSignal): Promise<void> {
    for (const [whole, own] of Map.groupBy(steps, ({ seeker }) => seeker.pod.gang)) {
      const [none] = own.filter(({ step }) => step.kind === 'None');
      if (whole === undefined) continue;
      if (none !== undefined && !isEarly(none.step)) this.#ports.gangs?.standAside(whole.name, none.step.because);
      else if (own.every(({ step }) => step.kind === 'Room')) await this.#ports.gangs?.start([whole], signal);
    }
  }

  /** If the decision fails, the pods are let in rather than held back. */
  async #stepsFor(plan: QueuePlan, signal: AbortSignal): Promise<readonly SeekerStep[]> {
    try {
      const input = this.#inputOf(plan);
      const seekers = await inChunks(seekersOf(input), this.#ports.clock, signal);
      const due = groupsOf(seekers).filter((group) => group.every(({ pod }) => this.#isDue(pod.uid)));
      const first = firstOf(due);
      const steps = first.length === 0 ? [] : await this.#decide(input, first, signal);
      return [...steps, ...tooLargeIn(due)];
    } catch (error) {
      const open = plan.seeking.filter(({ uid, gang }) => gang === undefined && !plan.crowded.has(uid));
      await this.#ports.letIn(open, signal);
      throw error;
    }
  }

  #inputOf(plan: QueuePlan): RoomInput {
    const { pods, snapshot, clock, ownerDisruptedAt } = this.#ports;
    const isLeaving = (uid: string): boolean => this.#evictions.isLeaving(uid);
    const isRefused = (uid: string): boolean => this.#evictions.isRefused(uid);
    return {
      plan,
      pods,
      snapshot,
      now: clock.now(),
      isLeaving,
      isRefused,
      promises: this.#maker.promises(),
      ownerDisruptedAt,
    };
  }

  #isDue(uid: string): boolean {
    return !this.#isBusyWith(uid) && !isAhead(this.#again, uid, this.#ports.clock);
  }

  /** Whether a decision about the pod or its gang is being carried out. */
  #isBusyWith(uid: string): boolean {
    return this.#maker.isBusyWith(uid) || this.#ports.gangs?.isStarting(uid) === true;
  }

  async #decide(input: RoomInput, seekers: readonly Seeker[], signal: AbortSignal): Promise<readonly SeekerStep[]> {
    const { clock } = this.#ports;
    const state = await inChunks(readRoomState(input), clock, signal);
    const steps = await inChunks(makeRoomInSteps(state, seekers, input.now), clock, signal);
    if (!this.#isEnforcing) return steps;
    const tried = steps.map((each) => {
      if (this.#isTriedInVain(each)) return givenUp(each, TRIED_IN_VAIN({}));
      const hanging = this.#hangingFor(each, input.now);
      return hanging.length > 0 ? givenUp(each, VICTIMS_HANG({ nodes: hanging.join(', ') })) : each;
    });
    return wholeGroups(tried);
  }

  /** The nodes that did not give back in time what was asked of them for the queue. */
  #hangingFor({ seeker, step }: SeekerStep, now: Instant): readonly string[] {
    if (step.kind !== 'Evict') return [];
    return this.#evictions.hangingFor(seeker.pod.queue, (uid) => isHanging(uid, this.#ports.snapshot, now));
  }

  #isTriedInVain({ seeker, step }: SeekerStep): boolean {
    const isNew = step.kind === 'Evict' || (step.kind === 'Await' && seeker.nominatedTo !== step.node);
    return isNew && this.#maker.hasTriedInVain(seeker.pod.uid);
  }

  /** Reports each change of a decision once. */
  #report(steps: readonly SeekerStep[]): void {
    const { log, metrics, settings } = this.#ports;
    const { mode } = settings();
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
      log.info(facts, mode === 'Enforce' ? 'Reclaiming room' : 'Would reclaim room (dry run)');
    }
  }

  #noteBlocked(queue: string, because: Because): void {
    if (because.code !== BLOCKED) return;
    putBounded(this.#blocked, MAX_REMEMBERED, [queue, { because, until: this.#ports.clock.monotonic() + BLOCKED_MS }]);
  }

  /**
   * Records the reason on the pod. While the pod waits for the delay of its queue, the Event about its waiting is
   * enough.
   */
  #tellNone(pod: WaitingPod, because: Because): void {
    if (because.code === EARLY) return;
    const regarding = podReference({ ...podAddress(pod), uid: pod.uid });
    const reasonOf = EVENT_REASONS.noRoomReclaimed;
    this.#ports.events.record({ regarding, type: 'Normal', reason: reasonOf, note: because.text, action: 'Reclaim' });
    this.#ports.log.info({ pod: pod.name, queue: pod.queue, because }, 'No room to reclaim');
  }

  #follow({ seeker, step }: SeekerStep, floor: string): void {
    if (step.kind === 'Evict' || (step.kind === 'Await' && this.#maker.isForgotten(seeker, step.node)))
      this.#maker.carryOut(seeker, step, floor);
  }

  /** A dry run changes nothing, so another attempt soon would find the same. */
  #rest(steps: readonly SeekerStep[]): void {
    const now = this.#ports.clock.monotonic();
    const isEnforcing = this.#isEnforcing;
    for (const { seeker, step } of steps) {
      const isOver = !isEnforcing || (step.kind === 'None' && !isEarly(step));
      const pauseMs = isOver ? AGAIN_MS : step.kind === 'None' ? EARLY_MS : 0;
      if (pauseMs > 0) putBounded(this.#again, MAX_REMEMBERED, [seeker.pod.uid, now + pauseMs]);
    }
  }

  #claimsAmong(plan: QueuePlan, roomless: readonly WaitingPod[]): Steps<readonly string[]> {
    const { pods } = this.#ports;
    return staleNominations(plan, roomless, { pods, isBusy: (uid) => this.#isBusyWith(uid) });
  }
}
