import { putBounded } from '#shared/domain/base/memoize.ts';
import type { RoomStep, Seeker } from '#shared/domain/queue/make-room.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { type Deadlines, type EvictionPorts, isAhead, type QueueEvictions } from './queue-evictions.ts';
import { writeNomination } from './nominations.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import type { RoomPromise } from '#shared/decide/queues/room-state.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';

export interface RoomMakerPorts extends EvictionPorts {
  readonly pods: Pick<QueuedPods, 'get' | 'lost'>;
}

/** A decision that sets a node aside. */
export type StepOnNode = Extract<RoomStep, { readonly node: string }>;

/** A nomination that the watch does not show within this time did not happen. */
const UNSEEN_MS = 30_000;
/** A restarted kube-scheduler does not know a nomination until the pod changes, and its Lease may not be readable. */
const NOMINATE_AGAIN_MS = 10_000;
/** Obstacles to setting a node aside rarely disappear faster. */
const FAILED_MS = 10_000;
const ATTEMPTS_MS = 600_000;
/** For one pod, so that a cluster whose victims never terminate is not emptied for it. */
export const MAX_ATTEMPTS = 3;
const MAX_REMEMBERED = 10_000;

interface OpenPromise extends Omit<RoomPromise, 'isBusy'> {
  readonly until: number;
}

/** Carries out decisions about room: sets nodes aside for pods, and evicts other pods from them. */
export class RoomMaker {
  readonly #ports: RoomMakerPorts;
  readonly #nominated: Deadlines = new Map();
  readonly #evictions: QueueEvictions;
  /** By UID of a pod: when others were evicted for it, or setting a node aside for it failed. */
  readonly #attempts = new Map<string, readonly number[]>();
  /** Pods for which no node could be set aside. */
  readonly #failed: Deadlines = new Map();
  readonly #promises = new Map<string, OpenPromise>();
  readonly #carriedOut = new Map<string, Promise<void>>();

  constructor(ports: RoomMakerPorts, evictions: QueueEvictions) {
    this.#ports = ports;
    this.#evictions = evictions;
  }

  /** Whether a decision about the pod is in progress, or failed recently. */
  isBusyWith(uid: string): boolean {
    return this.#carriedOut.has(uid) || isAhead(this.#failed, uid, this.#ports.clock);
  }

  /** Whether the attempts for the pod within ten minutes are used up. */
  hasTriedInVain(uid: string): boolean {
    const recent = (this.#attempts.get(uid) ?? []).filter((at) => this.#now - at < ATTEMPTS_MS);
    return recent.length >= MAX_ATTEMPTS;
  }

  /** The nodes that were set aside recently. */
  promises(): readonly RoomPromise[] {
    const open = [...this.#promises.values()].filter(({ until }) => until > this.#now);
    return open.map(({ pod, node }) => ({ pod, node, isBusy: this.#carriedOut.has(pod.uid) }));
  }

  /**
   * Whether kube-scheduler may not know that the node is set aside for the pod. After each failed attempt it clears the
   * nomination of a pod without a gate.
   */
  isForgotten({ pod, isGated, nominatedTo }: Seeker, node: string): boolean {
    return (isGated && nominatedTo !== node) || !isAhead(this.#nominated, pod.uid, this.#ports.clock);
  }

  /** Another kube-scheduler took over. It knows none of the nominations, so the next round writes them again. */
  forgetNominations(): void {
    this.#nominated.clear();
  }

  /** Resolves when no request to the API server is open. */
  async settled(): Promise<void> {
    await Promise.all(this.#carriedOut.values());
  }

  /** Starts to carry out a decision. `floor` is the word for the measure of queues: guarantee or share. */
  carryOut(seeker: Seeker, step: StepOnNode, floor: string): void {
    const { uid } = seeker.pod;
    const carriedOut = this.#carryOut(seeker, step, floor).finally(() => this.#carriedOut.delete(uid));
    this.#carriedOut.set(uid, carriedOut);
  }

  /** Stops setting the node aside for the pod; resolves with whether to go on with others. */
  async giveUp(uid: string, signal: AbortSignal): Promise<boolean> {
    if (!signal.aborted) await this.#writeNomination(uid, null);
    return !signal.aborted;
  }

  get #now(): number {
    return this.#ports.clock.monotonic();
  }

  /** The node is set aside before the first pod is evicted (S2-25). */
  async #carryOut(seeker: Seeker, step: StepOnNode, floor: string): Promise<void> {
    const { pod } = seeker;
    const { node, because } = step;
    const victims = step.kind === 'Evict' ? step.victims : [];
    this.#evictions.announce(victims);
    putBounded(this.#promises, MAX_REMEMBERED, [pod.uid, { pod, node, until: this.#now + UNSEEN_MS }]);
    if (!(await this.#nominate(seeker, node))) {
      this.#evictions.withdraw(victims);
      this.#promises.delete(pod.uid);
      this.#noteAttempt(pod.uid);
      return;
    }
    const textFor = (victim: RunningPod): string => whyEvicted(victim, pod, floor);
    const goes = await this.#evictions.evictAll(victims, {
      queue: pod.queue,
      pod,
      because,
      textFor,
      nodeOf: (victim) => victim.node ?? node,
    });
    if (goes) this.#noteAttempt(pod.uid);
  }

  #noteAttempt(uid: string): void {
    const before = this.#attempts.get(uid) ?? [];
    putBounded(this.#attempts, MAX_REMEMBERED, [uid, [...before, this.#now].slice(-MAX_ATTEMPTS)]);
  }

  async #nominate({ pod: { uid, name }, nominatedTo }: Seeker, node: string): Promise<boolean> {
    const { log } = this.#ports;
    // Writing the same value again would change nothing, and kube-scheduler would not notice it.
    if (nominatedTo === node) await this.#writeNomination(uid, null);
    const outcome = await this.#writeNomination(uid, node);
    if (outcome?.kind !== 'outdated')
      faultLog(log, 'Node not set aside').answered(`${name} on ${node}`, outcome ?? { kind: 'ok' });
    if (outcome === undefined) {
      putBounded(this.#nominated, MAX_REMEMBERED, [uid, this.#now + NOMINATE_AGAIN_MS]);
      return true;
    }
    putBounded(this.#failed, MAX_REMEMBERED, [uid, this.#now + FAILED_MS]);
    return false;
  }

  #writeNomination(uid: string, node: string | null) {
    return writeNomination(this.#ports, uid, node);
  }
}

/** Does not name pods of other namespaces. */
function whyEvicted(victim: RunningPod, taker: WaitingPod, floor: string): string {
  const last = victim.mayBePreempted ? '' : '; it asked to be spared, but no other pods free enough room';
  return `queue ${taker.queue} is under its ${floor}, and queue ${victim.queue} over its own${last}`;
}
