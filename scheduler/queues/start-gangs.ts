import type { Because } from '#shared/domain/base/because.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import { NOT_YET, TAKEN, UNWRITTEN } from '#shared/domain/gang/messages.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { fitTogether, type NodeOf, placeTogether } from '#shared/domain/placement/together/place-together.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { withDeadline } from '#shared/runtime/clock.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { isWaiting } from '#shared/decide/queues/queued-pod.ts';
import { GangPauses, type Pauses } from './gang-pauses.ts';
import { type NominationPorts, writeNomination } from './nominations.ts';
import { requestEach } from './open-requests.ts';
import { OpenStarts } from './open-starts.ts';

export interface StartGangsPorts extends Pick<ClientContext, 'clock' | 'log'>, NominationPorts {
  readonly snapshot: ClusterSnapshot;
  /** Removes scheduling gates. */
  readonly letIn: (pods: readonly WaitingPod[], signal: AbortSignal) => Promise<void>;
}

interface Nominating {
  readonly whole: WaitingPod;
  readonly nodeOf: NodeOf;
  /** The pods for which this start may have set a node aside by now. */
  readonly asked: Set<string>;
}

interface Failed {
  readonly because: Because;
  readonly pauses: Pauses;
}

/** A gang of a thousand pods takes some ten milliseconds of a large cluster. */
const PLANNED_WITHIN_MS = 100;
/** Planning takes a fifth of the time at most. */
const REST_FACTOR = 4;
const NOT_YET_MS = { first: 500, most: 500 } as const;
const NO_PLAN_MS = { first: 1_000, most: 10_000 } as const;
const FAILED_MS = { first: 1_000, most: 300_000 } as const;
/** A watch that does not show what was written for so long is not waited for. */
const SEEN_WITHIN_MS = 5_000;
/** Until then all nodes are set aside, or none is any more; and gates that are still on by then stay for now. */
const NOMINATED_WITHIN_MS = 30_000;
const LET_IN_WITHIN_MS = 30_000;
const LOOK_MS = 20;
/** kube-scheduler takes longer to restart, and then knows no nomination of a pod that has not changed since. */
const FRESH_MS = 3_000;
const FRESH_MS_PER_POD = 5;
const MAX_ATTEMPTS = 3;
const MAX_REMEMBERED = 10_000;

/**
 * Starts gangs: plans a node for each of its pods, sets the nodes aside, looks once more, and takes all gates off in one
 * go. It keeps no record of its own: a gated pod whose gang does not start loses its nomination in the next round of
 * reclaim, and a new leader plans again.
 */
export class StartGangs {
  readonly #ports: StartGangsPorts;
  readonly #starts = new OpenStarts();
  readonly #pauses: GangPauses;
  /** The gangs that may start by the last plan. */
  #wanted: ReadonlySet<string> = new Set();
  /** The node that was set aside for a pod of a gang, by UID. */
  readonly #planned = new Map<string, string>();
  #takeovers = 0;
  #restsUntil = 0;
  #planning: Promise<void> = Promise.resolve();
  #changes = 0;

  constructor(ports: StartGangsPorts) {
    this.#ports = ports;
    this.#pauses = new GangPauses(ports);
  }

  /** Rises whenever another plan may come to something else. */
  get changes(): number {
    return this.#changes + this.#pauses.changes;
  }

  whyNotNow(gang: string): Because | undefined {
    return this.#pauses.whyNotNow(gang);
  }

  /** The gang stands aside for some time, the longer the more often. */
  pause(gang: string, because: Because, pauses: Pauses): void {
    this.#pauses.pause(gang, because, pauses);
  }

  /** The node that was set aside for the pod of a gang. */
  plannedFor(uid: string): string | undefined {
    return this.#planned.get(uid);
  }

  /** Whether the nomination of the pod is being written or its gate is coming off. */
  isStarting(uid: string): boolean {
    return this.#starts.hasPod(uid);
  }

  /** Another kube-scheduler took over. It knows no nominations. */
  onSchedulerTakeover(): void {
    this.#takeovers += 1;
  }

  /** Resolves when no request to the API server is open. */
  settled(): Promise<void> {
    return this.#starts.settled();
  }

  /** Begins to start the gangs of a plan. Those for which no plan of nodes exists let those behind them pass. */
  async round({ starting, seeking }: Pick<QueuePlan, 'starting' | 'seeking'>, signal: AbortSignal): Promise<void> {
    this.#wanted = new Set([...starting, ...seeking.flatMap(({ gang }) => gang ?? [])].map(({ name }) => name));
    await this.start(starting, signal);
  }

  /** Begins to start these gangs. */
  start(wholes: readonly WaitingPod[], signal: AbortSignal): Promise<void> {
    // One after the other: each plan has to know what the others are about to get.
    const planned = this.#planning.then(() => this.#plan(wholes, signal));
    this.#planning = planned.catch(() => undefined);
    return planned;
  }

  /** Those that are too many to plan or start now let others pass, so that many gangs do not hold up the leader. */
  async #plan(wholes: readonly WaitingPod[], signal: AbortSignal): Promise<void> {
    const began = this.#now;
    for (const whole of wholes) {
      if (this.#starts.has(whole.name) || signal.aborted) continue;
      const isLate = this.#now - began >= PLANNED_WITHIN_MS || this.#now < this.#restsUntil;
      if (isLate || this.#starts.isFullFor(whole.name)) this.pause(whole.name, NOT_YET({}), NOT_YET_MS);
      else await this.#planOne(whole, signal);
    }
    if (this.#now >= this.#restsUntil) this.#restsUntil = this.#now + REST_FACTOR * (this.#now - began);
  }

  async #planOne(whole: WaitingPod, signal: AbortSignal): Promise<void> {
    const pods = this.#podsOf(whole);
    if (pods === undefined) return;
    const { clock, snapshot } = this.#ports;
    const plan = await inChunks(
      placeTogether({ snapshot, pods, expected: this.#starts.expected(this.#ports.pods) }),
      clock,
      signal,
    );
    if (plan.kind === 'None') this.standAside(whole.name, plan.because);
    else this.#begin(whole, plan.nodeOf);
  }

  /** No room for the gang now: it lets others of its queue pass for some seconds. */
  standAside(gang: string, because: Because): void {
    this.#pauses.tell(gang, because, NO_PLAN_MS);
  }

  get #now(): number {
    return this.#ports.clock.monotonic();
  }

  /** The pods of the gang behind their gates; `undefined` if one of them is not. */
  #podsOf({ members = [] }: WaitingPod): readonly Pod[] | undefined {
    const pods = members.flatMap(({ uid }) => {
      const queued = this.#ports.pods.get(uid);
      return queued !== undefined && isWaiting(queued) && queued.unplaced !== undefined ? [queued.unplaced] : [];
    });
    return pods.length === members.length ? pods : undefined;
  }

  #begin(whole: WaitingPod, nodeOf: NodeOf): void {
    const done = this.#start(whole, nodeOf)
      .catch((error: unknown) => this.#ports.log.error({ gang: whole.name, error }, 'Gang not started'))
      .finally(() => {
        this.#starts.delete(whole.name);
        this.#changes += 1;
      });
    this.#starts.add(whole.name, { nodeOf, done });
  }

  /** With a slow API server it ends too: what it has set aside keeps others out meanwhile. */
  async #start(whole: WaitingPod, nodeOf: NodeOf): Promise<void> {
    const { log, clock, leading } = this.#ports;
    const members = whole.members ?? [];
    const asked = new Set<string>();
    const nominate = (signal: AbortSignal) => this.#nominateAll({ whole, nodeOf, asked }, signal);
    const failed = await withDeadline(nominate, NOMINATED_WITHIN_MS, clock, leading);
    if (failed !== undefined) {
      await this.#clear(leading, this.#setAsideBy(nodeOf, asked));
      this.#pauses.tell(whole.name, failed.because, failed.pauses);
      return;
    }
    this.#pauses.end(whole.name);
    for (const [uid, node] of nodeOf) putBounded(this.#planned, MAX_REMEMBERED, [uid, node]);
    log.info({ gang: whole.name, queue: whole.queue, pods: members.length }, 'Gang let in');
    const left = await withDeadline((signal) => this.#letIn(members, signal), LET_IN_WITHIN_MS, clock, leading);
    await this.#clear(leading, left);
  }

  /** Resolves once kube-scheduler knows the node of each pod, or with why that failed. */
  async #nominateAll({ whole, nodeOf, asked }: Nominating, signal: AbortSignal): Promise<Failed | undefined> {
    const freshMs = FRESH_MS + FRESH_MS_PER_POD * nodeOf.size;
    const isLate = (): boolean => signal.aborted;
    for (let attempt = 0; attempt < MAX_ATTEMPTS && !isLate(); attempt += 1) {
      const [takeovers, since] = [this.#takeovers, this.#now];
      const message = await this.#nominate(nodeOf, asked, signal);
      if (isLate()) break;
      if (message !== undefined) return { because: UNWRITTEN({ message }), pauses: FAILED_MS };
      if (!(await this.#holds(whole, nodeOf, signal))) return { because: TAKEN({}), pauses: NO_PLAN_MS };
      if (this.#takeovers === takeovers && this.#now - since <= freshMs) return undefined;
    }
    return { because: UNWRITTEN({ message: 'writing takes too long' }), pauses: FAILED_MS };
  }

  /** Resolves with the pods that could not be let in. One that another client changes at this moment is let in a moment later. */
  async #letIn(members: readonly WaitingPod[], signal: AbortSignal): Promise<readonly string[]> {
    const { letIn, pods, clock, term } = this.#ports;
    let left = members;
    for (let attempt = 0; attempt < MAX_ATTEMPTS && left.length > 0 && term.isHeld(); attempt += 1) {
      if (attempt > 0) await clock.sleep(LOOK_MS, signal);
      await letIn(left, signal);
      left = left.filter(({ uid }) => {
        const pod = pods.get(uid);
        return pod !== undefined && isWaiting(pod);
      });
    }
    return left.map(({ uid }) => uid);
  }

  /** A nomination that is there already is taken off first: a second pod on a node may be too many, and kube-scheduler does not notice a value that stays. */
  async #nominate(nodeOf: NodeOf, asked: Set<string>, signal: AbortSignal): Promise<string | undefined> {
    const written = [...nodeOf.keys()].filter((uid) => this.#nominatedTo(uid) !== undefined);
    return (await this.#clear(signal, written)) ?? (await this.#write(signal, [...nodeOf], asked));
  }

  /** Also what a former leader has set aside. */
  #setAsideBy(nodeOf: NodeOf, asked: ReadonlySet<string>): readonly string[] {
    return [...nodeOf.keys()].filter((uid) => asked.has(uid) || this.#nominatedTo(uid) !== undefined);
  }

  #nominatedTo(uid: string): string | undefined {
    return this.#ports.pods.get(uid)?.unplaced?.status.nominatedNodeName;
  }

  /** Resolves with the first failure. */
  async #write(
    signal: AbortSignal,
    nominations: readonly (readonly [uid: string, node: string | null])[],
    asked = new Set<string>(),
  ): Promise<string | undefined> {
    let fault: string | undefined;
    await requestEach(nominations, async ([uid, node]) => {
      if (signal.aborted) return false;
      asked.add(uid);
      const outcome = await writeNomination({ ...this.#ports, leading: signal }, uid, node);
      fault ??= outcome?.message;
      return fault === undefined || node === null;
    });
    return fault;
  }

  /** Whether the watch shows all nominations, and with all that it shows by then each pod still fits. */
  async #holds(whole: WaitingPod, nodeOf: NodeOf, signal: AbortSignal): Promise<boolean> {
    const { clock, snapshot } = this.#ports;
    const until = this.#now + SEEN_WITHIN_MS;
    const isSeen = (): boolean => [...nodeOf].every(([uid, node]) => this.#nominatedTo(uid) === node);
    while (!isSeen()) {
      const isOver = this.#now >= until || signal.aborted || !this.#wanted.has(whole.name);
      // One of its pods may be gone.
      if (isOver || this.#podsOf(whole) === undefined) return false;
      await clock.sleep(LOOK_MS, signal);
    }
    const pods = this.#podsOf(whole);
    if (pods === undefined || !this.#wanted.has(whole.name)) return false;
    return inChunks(
      fitTogether({ snapshot, pods, expected: this.#starts.expected(this.#ports.pods) }, nodeOf),
      clock,
      signal,
    );
  }

  /** Nominations that are left nevertheless, the rounds of reclaim clear. */
  #clear(signal: AbortSignal, uids: readonly string[]): Promise<string | undefined> {
    return this.#write(
      signal,
      uids.map((uid) => [uid, null]),
    );
  }
}
