import type { Because } from '#shared/domain/base/because.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { MINUTE_MS, SECOND_MS } from '#shared/domain/base/durations.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { ThrottledEntry } from '#shared/api/node-pressure.ts';
import type { PassResult } from '#shared/decide/eviction/decide.ts';
import { THROTTLING } from '#shared/decide/throttle/messages.ts';
import {
  type CpuOfContainer,
  type CpuShortage,
  cpuShortage,
  lowerLimit,
  podsToThrottle,
  raiseLimit,
} from '#shared/decide/throttle/throttle-cpu.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Failure } from '#shared/kube/client/outcome.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { EVENTS } from './messages.ts';
import { createPauses, type Pauses } from './pauses.ts';
import type { PreviousStatus } from './observe/api-server/node-pressure-object.ts';
import { createThrottleReport, type ThrottleReport, type ThrottleReportPorts } from './report/throttle-report.ts';
import {
  areLimitsCounted,
  changeLimit,
  isApplied,
  type NotChanged,
  podOf,
  type ResizablePod,
  readResizable,
  resizeCpu,
} from './resize.ts';

export interface ThrottlePorts extends ThrottleReportPorts {
  readonly client: KubeClient;
  readonly nodeName: string;
  readonly lastResult: () => PassResult | undefined;
  /** What an earlier process wrote; `undefined` until it has been read. */
  readonly previousStatus: () => Pick<PreviousStatus, 'throttled'> | undefined;
  /** The limits that the status in the API server says are lowered. */
  readonly written: () => readonly ThrottledEntry[];
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Lowers CPU limits while the node is short of CPU, and gives them back. */
export interface Throttle {
  /** Called once a second. Never rejects. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
  /** What the status is to show; `undefined` until a limit has been lowered. */
  readonly status: () => readonly ThrottledEntry[] | undefined;
  /** Gives everything back, before the process ends. */
  readonly release: () => Promise<void>;
}

/** As long as idle CPU is averaged, and the kubelet takes: until then nothing shows what the last change did. */
const SETTLE_MS = 3 * SECOND_MS;
const WRITTEN_WITHIN_MS = 10 * SECOND_MS;
const APPLIED_WITHIN_SECONDS = 30;
const RETRY_MS = 3 * SECOND_MS;
const STOP_MS = 4 * SECOND_MS;
/** The status has no room for more. */
const MAX_LOWERED = 10;
/** Pods that are read in one turn. */
const MAX_READ = 3;
const PAUSE_MS = { unsuitable: MINUTE_MS, pretended: 5 * MINUTE_MS, refused: 10 * MINUTE_MS } as const;

/** A lower limit that the kubelet is to apply. */
interface AwaitedResize {
  readonly entry: ThrottledEntry;
  readonly sinceMs: number;
}

/** A change that is sent once the status shows it; an agent that starts could not know it otherwise. */
interface PendingChange {
  readonly entry: ThrottledEntry;
  readonly isLower: boolean;
  readonly earlier: readonly ThrottledEntry[] | undefined;
  readonly untilMs: number;
}

/** One change at a time: it is written to the status, then sent, then followed. */
class CpuThrottle implements Throttle {
  private readonly ports: ThrottlePorts;
  private lowered: readonly ThrottledEntry[] | undefined;
  private pending: PendingChange | undefined;
  private unapplied: AwaitedResize | undefined;
  private changedAtMs = -Infinity;
  /** By the UID of a pod that is not lowered, or one with what else waits. */
  private readonly pauses: Pauses;
  private readonly told: ThrottleReport;
  private readonly unanswered = new WeakSet<ThrottledEntry>();

  constructor(ports: ThrottlePorts) {
    this.ports = ports;
    this.pauses = createPauses(ports.clock);
    this.told = createThrottleReport(ports);
  }

  status(): readonly ThrottledEntry[] | undefined {
    return this.lowered;
  }

  async turn(signal: AbortSignal): Promise<void> {
    const [result, previous] = [this.ports.lastResult(), this.ports.previousStatus()];
    if (result === undefined || previous === undefined) return;
    // An empty list may be older than the last write of an agent that was killed.
    if (previous.throttled?.[0] !== undefined) this.lowered ??= previous.throttled;
    if (this.pending !== undefined) return this.advance(this.pending, result, signal);
    await this.giveBackDue(result, signal);
    if (!this.isSettled(result)) return;
    if (this.unapplied !== undefined) return this.follow(this.unapplied, signal);
    if (!this.raisePartly(result)) await this.lowerNext(result, signal);
  }

  async release(): Promise<void> {
    const signal = AbortSignal.timeout(STOP_MS);
    const entries = this.lowered ?? [];
    await Promise.all(entries.map((entry) => this.giveBack(entry, THROTTLING.agentStops({}), signal)));
  }

  /** Whether the node was measured after the last change. */
  private isSettled({ snapshot }: PassResult): boolean {
    return snapshot.now - this.changedAtMs >= SETTLE_MS;
  }

  private entryOf(uid: string): ThrottledEntry | undefined {
    return this.lowered?.find((each) => each.uid === uid);
  }

  /** What the node has room for is given back one by one, the latest first; what is not to be held at all, at once. */
  private async giveBackDue(result: PassResult, signal: AbortSignal): Promise<void> {
    for (const entry of this.lowered?.toReversed() ?? []) {
      const raised = raiseLimit(entry, result, this.ports.clock.now());
      if (raised?.isWhole !== true || this.pauses.has(`return ${entry.uid}`)) continue;
      if (raised.because.code !== ROOM_AGAIN || this.isSettled(result))
        await this.giveBack(entry, raised.because, signal);
    }
  }

  private async giveBack(entry: ThrottledEntry, because: Because, signal: AbortSignal): Promise<void> {
    const { uid, container, before } = entry;
    const found = await readResizable(this.ports.client, podOf(entry), signal);
    if (found === 'unknown') return;
    const isGone = found === 'gone' || !this.isHeld(entry, found);
    const outcome = isGone
      ? undefined
      : await resizeCpu(this.ports.client, found.pod, { container, limit: before }, signal);
    if (outcome !== undefined && outcome.kind !== 'ok') {
      this.notGivenBack(entry, outcome);
      return;
    }
    if (because.code !== NOT_ASKED && !this.pauses.has(uid)) this.pauses.add(uid, PAUSE_MS.unsuitable);
    this.forget(entry);
    if (outcome !== undefined) this.told.restored(entry, because.text);
  }

  /** A limit that somebody else has set meanwhile is theirs. */
  private isHeld({ container, before, from, to }: ThrottledEntry, { pod, limits }: ResizablePod): boolean {
    const limit = limits.get(container);
    return pod.spec.nodeName === this.ports.nodeName && limit !== before && (limit === to || limit === from);
  }

  private notGivenBack(entry: ThrottledEntry, failure: Failure): void {
    if (failure.kind === 'conflict') return;
    this.pauses.add(`return ${entry.uid}`, RETRY_MS);
    this.told.notRestored(entry, failure);
  }

  private forget(entry: ThrottledEntry): void {
    this.told.settled(entry);
    this.changedAtMs = this.ports.clock.monotonic();
    if (this.unapplied?.entry.uid === entry.uid) this.unapplied = undefined;
    this.lowered = this.lowered?.filter(({ uid }) => uid !== entry.uid);
  }

  /** Whether the kubelet has applied the lower limit; one that it cannot apply is taken back. */
  private async follow({ entry, sinceMs }: AwaitedResize, signal: AbortSignal): Promise<void> {
    const found = await readResizable(this.ports.client, podOf(entry), signal);
    if (found === 'gone') this.forget(entry);
    else if (found !== 'unknown' && isApplied(entry, found)) this.unapplied = undefined;
    else if (this.ports.clock.monotonic() - sinceMs >= APPLIED_WITHIN_SECONDS * SECOND_MS) {
      this.pauses.add(entry.uid, PAUSE_MS.refused);
      await this.giveBack(entry, THROTTLING.notApplied({ seconds: APPLIED_WITHIN_SECONDS }), signal);
    }
  }

  private raisePartly(result: PassResult): boolean {
    for (const entry of this.lowered?.toReversed() ?? []) {
      const raised = raiseLimit(entry, result, this.ports.clock.now());
      if (raised === undefined || raised.isWhole || this.pauses.has(`raise ${entry.uid}`)) continue;
      this.propose({ ...entry, from: entry.to, to: raised.limit, because: raised.because }, false);
      return true;
    }
    return false;
  }

  private async lowerNext(result: PassResult, signal: AbortSignal): Promise<void> {
    const shortage = cpuShortage(result);
    if (shortage === undefined) return;
    const isFull = (this.lowered?.length ?? 0) >= MAX_LOWERED;
    for (let reads = 0; reads < MAX_READ; reads += 1) {
      const candidate = podsToThrottle(result, shortage, this.pauses.has).find(
        ({ facts: { pod } }) => !isFull || this.entryOf(pod.uid) !== undefined,
      );
      if (candidate === undefined || (await this.lower(candidate, shortage, signal))) return;
      this.pauses.add(candidate.facts.pod.uid, PAUSE_MS.unsuitable);
    }
  }

  /** Whether this pod frees CPU. */
  private async lower(candidate: Candidate, { mode, gap }: CpuShortage, signal: AbortSignal): Promise<boolean> {
    const { pod } = candidate.facts;
    const found = await readResizable(this.ports.client, pod, signal);
    if (found === 'gone' || found === 'unknown' || !this.isSuitable(found)) return false;
    const earlier = this.entryOf(pod.uid);
    if (earlier !== undefined && found.cpu.limit !== earlier.to) return false;
    const entry = lowerLimit(candidate, found.cpu, gap, { earlier, now: this.ports.clock.now() });
    if (entry === undefined || (await areLimitsCounted(this.ports.client, pod.namespace, signal))) return false;
    if (mode === 'Enforce') this.propose(entry, true);
    else await this.pretend(entry, found.pod, signal);
    return true;
  }

  private isSuitable(found: ResizablePod): found is ResizablePod & { readonly cpu: CpuOfContainer } {
    return found.cpu !== undefined && !found.isResizing && found.pod.spec.nodeName === this.ports.nodeName;
  }

  /** The API server answers as it would, and stores nothing. */
  private async pretend(entry: ThrottledEntry, pod: Pod, signal: AbortSignal): Promise<void> {
    this.pauses.add(entry.uid, PAUSE_MS.pretended);
    const change = { container: entry.container, limit: entry.to, dryRun: true };
    const outcome = await resizeCpu(this.ports.client, pod, change, signal);
    const note = outcome.kind === 'ok' ? entry.because.text : EVENTS.cpuLimitNotLowered(outcome.message);
    this.told.lowered(entry, EVENTS.dryRun(note));
  }

  private propose(entry: ThrottledEntry, isLower: boolean): void {
    this.pending = { entry, isLower, earlier: this.lowered, untilMs: this.ports.clock.monotonic() + WRITTEN_WITHIN_MS };
    this.lowered = [...(this.lowered ?? []).filter(({ uid }) => uid !== entry.uid), entry];
  }

  private async advance(change: PendingChange, result: PassResult, signal: AbortSignal): Promise<void> {
    const { entry, isLower } = change;
    if (isLower && !this.unanswered.has(entry) && cpuShortage(result)?.mode !== 'Enforce') {
      this.withdraw(change, SETTLE_MS);
      return;
    }
    const mayBe = (found: ResizablePod): boolean => !isLower || this.isSuitable(found);
    const isWritten = this.ports.written().includes(entry);
    const step = isWritten ? await changeLimit(this.ports.client, entry, mayBe, signal) : 'again';
    if (step === 'done') this.done(change);
    else await this.notDone(change, step, signal);
  }

  private async notDone(change: PendingChange, step: NotChanged, signal: AbortSignal): Promise<void> {
    const { entry, isLower, untilMs } = change;
    if (step === 'unanswered') this.unanswered.add(entry);
    const isRefused = typeof step === 'object';
    if (isRefused) this.told.refused(entry, step);
    if (!isRefused && step !== 'unsuitable' && this.ports.clock.monotonic() <= untilMs) return;
    this.withdraw(change, isRefused ? PAUSE_MS.refused : PAUSE_MS.unsuitable);
    // The pod is gone, or its limit is not the one that was to be raised.
    const earlier = step === 'unsuitable' && !isLower ? this.entryOf(entry.uid) : undefined;
    if (earlier !== undefined) await this.giveBack(earlier, entry.because, signal);
  }

  private done({ entry, isLower }: PendingChange): void {
    this.told.settled(entry);
    this.pending = undefined;
    this.changedAtMs = this.ports.clock.monotonic();
    if (!isLower) return;
    this.unapplied = { entry, sinceMs: this.changedAtMs };
    this.told.lowered(entry);
  }

  /** One that was sent without an answer may still take effect, so the entry stays until the limit is known. */
  private withdraw({ entry, earlier, isLower }: PendingChange, pauseMs: number): void {
    this.pending = undefined;
    this.pauses.add(isLower ? entry.uid : `raise ${entry.uid}`, pauseMs);
    if (!this.unanswered.has(entry)) this.lowered = earlier ?? [];
    else if (isLower) this.unapplied = { entry, sinceMs: this.ports.clock.monotonic() };
  }
}

export function createThrottle(ports: ThrottlePorts): Throttle {
  const cpu = new CpuThrottle(ports);
  return { turn: (signal) => cpu.turn(signal), status: () => cpu.status(), release: () => cpu.release() };
}

const ROOM_AGAIN = THROTTLING.roomAgain({ idle: 0, kept: 0 }).code;
const NOT_ASKED = THROTTLING.notAsked({}).code;
