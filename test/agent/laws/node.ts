import type { LawPod, Scenario } from './scenario.ts';

/** A pod on the node of an episode; a replacement is another one. */
export interface LivePod {
  readonly spec: LawPod;
  readonly uid: string;
  /** What the kubelet has allocated: it evicts by that, not by the spec. */
  readonly requestMiB: number;
  bornMs: number;
  usedMiB: number;
  /** Since when it has been above, or inside, its request: a law depends on no race with a measurement. */
  aboveSinceMs: number | undefined;
  insideSinceMs: number | undefined;
  deletion: { readonly atMs: number; readonly graceSeconds: number } | undefined;
  isEvictedByKubelet: boolean;
  /** When its processes have ended; infinite while none was asked to. */
  endsAtMs: number;
  /** When the agent first sent a request for it that reached the API server. */
  askedAtMs: number | undefined;
  /** When the API server first accepted such a request. */
  acceptedAtMs: number | undefined;
  isReplaced: boolean;
}

export interface NodeEvent {
  readonly atMs: number;
  readonly kind: 'asked' | 'evicted' | 'kubelet' | 'kernel' | 'breach';
  readonly text: string;
  readonly isInside: boolean;
}

export const TICK_MS = 100;
/** The kubelet looks this often: what the agent relieved just before, it sees one look later. */
export const KUBELET_PERIOD_MS = 10_000;
const OBJECT_OUTLIVES_MS = 500;
const REPLACED_AFTER_MS = 500;
const STARTS_IN_MS = 1000;
const SIGKILL_MS = 200;
/** An episode ends there: the kernel would kill for ever. */
export const MAX_KILLS = 3;
/** Below this a law takes a pod neither for above nor for inside its request. */
const MARGIN_MIB = 1;

/** Whether the kubelet refuses to evict it (`IsCriticalPod`). */
export function isUntouchable({ kind, priority }: LawPod): boolean {
  return kind === 'Static' || priority >= 2_000_000_000;
}

export function isAbove({ usedMiB, requestMiB }: LivePod): boolean {
  return usedMiB > requestMiB + MARGIN_MIB;
}

export function isInside({ usedMiB, requestMiB }: LivePod): boolean {
  return usedMiB < requestMiB - MARGIN_MIB;
}

/**
 * Whether it exceeds its request before the kubelet's next look: what the agent frees moves the kubelet's looks against
 * the growth of such a pod, so neither is to blame.
 */
function isAboutToExceed({ usedMiB, requestMiB, spec: { growsMiB, mostMiB } }: LivePod): boolean {
  return Math.min(mostMiB, usedMiB + (growsMiB * KUBELET_PERIOD_MS) / 1000) > requestMiB;
}

/** Whether it came during the episode, in place of another. */
export function isReplacement({ uid, spec }: LivePod): boolean {
  return uid !== `${spec.name}-0`;
}

/** How often this happened to pods outside spare room, or to those in it, whose names say so. */
export function countOf({ events }: LawNode, what: NodeEvent['kind'], isSpare = false): number {
  return events.filter(({ kind, text }) => kind === what && text.startsWith('spare') === isSpare).length;
}

/** The memory of a node and the pods on it; time moves by ticks. Kubelet and kernel act in it by their own rules. */
export class LawNode {
  nowMs = 0;
  readonly scenario: Scenario;
  pods: readonly LivePod[];
  readonly events: NodeEvent[] = [];
  oomKills = 0;
  /** Pods inside their requests, for longer than a look of the kubelet, that it evicted or the kernel killed, by name. */
  readonly #innocents = new Set<string>();
  shortMs = 0;
  /** Changes whenever an object in the API server does. */
  version = 0;
  taintedUntilMs = -1;
  /** Whether the kubelet's condition MemoryPressure, as posted last, is true. */
  hasMemoryPressure = false;
  /** Evictions that the agent decided and that have no answer yet, by UID. */
  readonly pending = new Set<string>();
  /** When the agent began its last attempt on each pod. */
  readonly attemptedAtMs = new Map<string, number>();
  /** When the API server last refused or failed a request. */
  refusedAtMs: number | undefined;
  #outsideMiB: number;

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.#outsideMiB = scenario.outsideMiB;
    this.pods = scenario.pods.map((spec) => birth(spec, `${spec.name}-0`, { atMs: 0, usedMiB: spec.startMiB }));
    for (const pod of this.pods) {
      // They have run for long.
      pod.aboveSinceMs = isAbove(pod) ? -60_000 : undefined;
      pod.insideSinceMs = isInside(pod) ? -60_000 : undefined;
    }
  }

  availableMiB(): number {
    let used = this.#outsideMiB;
    for (const pod of this.pods) used += pod.usedMiB;
    return this.scenario.capacityMiB - used;
  }

  get innocents(): number {
    return this.#innocents.size;
  }

  /** Counts a pod that the kubelet evicts or the kernel kills. */
  lose(pod: LivePod): void {
    if (isInside(pod) && !isAboutToExceed(pod)) this.#innocents.add(pod.spec.name);
  }

  /** Pods whose objects the API server has. */
  present(): readonly LivePod[] {
    return this.pods.filter((pod) => this.nowMs < pod.endsAtMs + OBJECT_OUTLIVES_MS || pod.isEvictedByKubelet);
  }

  find(uid: string): LivePod | undefined {
    return this.present().find((pod) => pod.uid === uid);
  }

  tick(): void {
    this.nowMs += TICK_MS;
    this.#outsideMiB += (this.scenario.outsideGrowsMiB * TICK_MS) / 1000;
    for (const pod of this.pods) this.#live(pod);
    this.#replace();
    if (this.availableMiB() < this.scenario.kubelet.hardMiB) this.shortMs += TICK_MS;
    while (this.availableMiB() <= 0 && this.oomKills < MAX_KILLS) this.#killByKernel();
  }

  /** Whether nothing more can happen: memory is left, and nobody grows, ends or starts. */
  isOver(): boolean {
    if (this.oomKills >= MAX_KILLS) return true;
    const { policy, kubelet, outsideGrowsMiB } = this.scenario;
    const enoughMiB = Math.max(policy.hardMiB, policy.softMiB ?? 0, kubelet.softMiB ?? 0) + (policy.reclaimMiB ?? 0);
    return (
      outsideGrowsMiB <= 0 && this.availableMiB() > enoughMiB && this.pods.every((pod) => isSettled(pod, this.nowMs))
    );
  }

  /** Asks a pod to end. A termination that has begun is not shortened. */
  end(pod: LivePod, graceSeconds: number): void {
    if (pod.endsAtMs !== Infinity) return;
    const graceMs = Math.max(1, graceSeconds) * 1000;
    const { shutdownMs, hangsMs } = pod.spec;
    pod.endsAtMs = this.nowMs + SIGKILL_MS + (shutdownMs <= graceMs ? shutdownMs : graceMs + hangsMs);
    this.version += 1;
  }

  delete(pod: LivePod, graceSeconds: number): void {
    pod.deletion ??= { atMs: this.nowMs, graceSeconds };
    this.end(pod, graceSeconds);
  }

  note(kind: NodeEvent['kind'], pod: LivePod, text = ''): void {
    const inside = isInside(pod);
    const figures = `${pod.uid} uses ${Math.round(pod.usedMiB)} of ${pod.requestMiB}Mi`;
    this.events.push({
      atMs: this.nowMs,
      kind,
      text: `${figures}${inside ? ', inside' : ''}${text}`,
      isInside: inside,
    });
  }

  #live(pod: LivePod): void {
    if (this.nowMs >= pod.endsAtMs) {
      // Its object goes a moment later.
      if (this.nowMs <= pod.endsAtMs + OBJECT_OUTLIVES_MS + TICK_MS) this.version += 1;
      pod.usedMiB = 0;
    } else {
      if (isDueForDeletion(pod, this.nowMs)) this.delete(pod, pod.spec.graceSeconds);
      grow(pod, this.nowMs);
    }
    pod.aboveSinceMs = isAbove(pod) ? (pod.aboveSinceMs ?? this.nowMs) : undefined;
    pod.insideSinceMs = isInside(pod) ? (pod.insideSinceMs ?? this.nowMs) : undefined;
  }

  #replace(): void {
    for (const pod of this.pods) {
      // The scheduler counts its request until it is gone.
      if (pod.isReplaced || this.nowMs < pod.endsAtMs + REPLACED_AFTER_MS) continue;
      pod.isReplaced = true;
      if (!this.#comesBack(pod.spec)) continue;
      const uid = `${pod.spec.name}-${this.nowMs}`;
      this.pods = [...this.pods, birth(pod.spec, uid, { atMs: this.nowMs, usedMiB: 0 })];
      this.version += 1;
    }
  }

  #comesBack({ kind, comesBack }: LawPod): boolean {
    return kind === 'DaemonSet' || (kind === 'ReplicaSet' && comesBack && this.nowMs > this.taintedUntilMs);
  }

  /** The kernel kills by usage and by the `oom_score_adj` that the kubelet sets; the container starts again. */
  #killByKernel(): void {
    const running = this.pods.filter(({ usedMiB }) => usedMiB > 0);
    const score = (pod: LivePod) => (pod.usedMiB / this.scenario.capacityMiB) * 1000 + this.#oomScoreAdj(pod);
    const [victim] = running.toSorted((left, right) => score(right) - score(left));
    // With nothing left to kill, the kernel panics.
    this.oomKills = victim === undefined ? MAX_KILLS : this.oomKills + 1;
    if (victim === undefined) return;
    this.note('kernel', victim);
    this.lose(victim);
    victim.usedMiB = 0;
    victim.bornMs = this.nowMs;
    victim.aboveSinceMs = undefined;
    victim.insideSinceMs = undefined;
    // A container that terminates is not started again.
    if (victim.endsAtMs !== Infinity) victim.endsAtMs = this.nowMs;
  }

  /** `GetContainerOOMScoreAdjust` in `pkg/kubelet/qos/policy.go`. */
  #oomScoreAdj({ spec, requestMiB }: LivePod): number {
    if (spec.priority >= 2_000_001_000 || spec.kind === 'Static' || spec.isGuaranteed) return -997;
    if (spec.requestMiB === 0) return 1000;
    return Math.min(999, Math.max(3, 1000 - Math.trunc((1000 * requestMiB) / this.scenario.capacityMiB)));
  }
}

function isSettled(
  { spec, usedMiB, endsAtMs, isReplaced, deletion, isEvictedByKubelet }: LivePod,
  nowMs: number,
): boolean {
  if (spec.isSawTooth === true && endsAtMs === Infinity) return false;
  if (deletion !== undefined || isEvictedByKubelet) return isReplaced && nowMs >= endsAtMs;
  return (
    usedMiB >= (spec.growsMiB > 0 ? spec.mostMiB : spec.startMiB) &&
    !(spec.deletedAtMs !== undefined && nowMs <= spec.deletedAtMs)
  );
}

function birth(
  spec: LawPod,
  uid: string,
  { atMs, usedMiB }: { readonly atMs: number; readonly usedMiB: number },
): LivePod {
  return {
    spec,
    uid,
    requestMiB: spec.resize?.state === 'Done' ? spec.resize.requestMiB : spec.requestMiB,
    bornMs: atMs,
    usedMiB,
    aboveSinceMs: undefined,
    insideSinceMs: undefined,
    deletion: undefined,
    isEvictedByKubelet: false,
    endsAtMs: Infinity,
    askedAtMs: undefined,
    acceptedAtMs: undefined,
    isReplaced: false,
  };
}

function isDueForDeletion({ spec: { deletedAtMs }, bornMs, deletion }: LivePod, nowMs: number): boolean {
  return deletedAtMs !== undefined && bornMs === 0 && nowMs >= deletedAtMs && deletion === undefined;
}

/** Grows for `mostMiB - startMiB`, stays a second, and starts again. */
function sawTooth(pod: LivePod, agedMs: number): void {
  const { startMiB, growsMiB, mostMiB } = pod.spec;
  const roundMs = ((mostMiB - startMiB) / growsMiB) * 1000 + 1000;
  pod.usedMiB = Math.min(mostMiB, startMiB + (growsMiB * (agedMs % roundMs)) / 1000);
}

function grow(pod: LivePod, nowMs: number): void {
  const { startMiB, growsMiB, growsFromMs, mostMiB } = pod.spec;
  const agedMs = nowMs - pod.bornMs;
  if (pod.spec.isSawTooth === true) {
    sawTooth(pod, agedMs);
    return;
  }
  if (pod.usedMiB < startMiB) pod.usedMiB = Math.min(startMiB, pod.usedMiB + (startMiB * TICK_MS) / STARTS_IN_MS);
  if (agedMs > growsFromMs && pod.usedMiB >= startMiB)
    pod.usedMiB = Math.min(Math.max(pod.usedMiB, mostMiB), pod.usedMiB + (growsMiB * TICK_MS) / 1000);
}
