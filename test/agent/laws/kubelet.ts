import { isUntouchable, KUBELET_PERIOD_MS, type LawNode, type LivePod } from './node.ts';

/** After an eviction it waits for the pod's clean-up, at most this long, and looks once a second. */
const CLEAN_UP_MS = 30_000;
const TAINT_MS = 300_000;
const HARD_GRACE_SECONDS = 1;
const STATUS_PERIOD_MS = 10_000;

/**
 * The kubelet's eviction manager (`pkg/kubelet/eviction/eviction_manager.go`, 1.36): it looks every ten seconds and
 * evicts one pod at a time.
 */
export class LawKubelet {
  readonly #node: LawNode;
  #nextMs: number;
  #nextPostMs: number;
  #pressureUntilMs = -1;
  #softSinceMs: number | undefined;
  #cleaning: { readonly pod: LivePod; readonly untilMs: number } | undefined;

  constructor(node: LawNode) {
    this.#node = node;
    this.#nextMs = node.scenario.kubelet.phaseMs;
    this.#nextPostMs = this.#nextMs + STATUS_PERIOD_MS / 2;
  }

  tick(): void {
    const { nowMs } = this.#node;
    if (nowMs >= this.#nextPostMs) this.#post();
    if (nowMs < this.#nextMs) return;
    if (this.#cleaning !== undefined && nowMs < this.#cleaning.untilMs && this.#cleaning.pod.usedMiB > 0) {
      this.#nextMs = nowMs + 1000;
      return;
    }
    this.#cleaning = undefined;
    this.#nextMs = nowMs + KUBELET_PERIOD_MS;
    this.#synchronize();
  }

  /** `nodeStatusUpdateFrequency`: conditions are posted in a loop of their own. */
  #post(): void {
    this.#nextPostMs += STATUS_PERIOD_MS;
    this.#node.hasMemoryPressure = this.#node.nowMs < this.#pressureUntilMs;
  }

  #synchronize(): void {
    const { hardMiB, softMiB, softGraceSeconds } = this.#node.scenario.kubelet;
    const { nowMs } = this.#node;
    const availableMiB = this.#node.availableMiB();
    this.#softSinceMs = softMiB !== undefined && availableMiB < softMiB ? (this.#softSinceMs ?? nowMs) : undefined;
    const isHard = availableMiB < hardMiB;
    if (isHard || this.#softSinceMs !== undefined) {
      this.#pressureUntilMs = nowMs + TAINT_MS;
      this.#node.taintedUntilMs = nowMs + TAINT_MS;
    }
    const isSoft = this.#softSinceMs !== undefined && nowMs - this.#softSinceMs >= softGraceSeconds * 1000;
    if (isHard || isSoft) this.#evictOne(isHard);
  }

  #evictOne(isHard: boolean): void {
    const active = this.#node.pods.filter((pod) => pod.usedMiB > 0 && !pod.isEvictedByKubelet);
    const victim = active.toSorted(byRank).find(({ spec }) => !isUntouchable(spec));
    if (victim === undefined) return;
    const { graceSeconds } = victim.spec;
    const { mostGraceSeconds } = this.#node.scenario.kubelet;
    this.#node.note('kubelet', victim);
    this.#node.lose(victim);
    victim.isEvictedByKubelet = true;
    this.#node.version += 1;
    this.#node.end(victim, isHard ? HARD_GRACE_SECONDS : Math.min(mostGraceSeconds, graceSeconds));
    this.#cleaning = { pod: victim, untilMs: this.#node.nowMs + CLEAN_UP_MS };
    this.#nextMs = this.#node.nowMs + 1000;
  }
}

/** `rankMemoryPressure`: above its request, lower priority, larger overage. */
export function byRank(left: LivePod, right: LivePod): number {
  return (
    Number(exceeds(right)) - Number(exceeds(left)) ||
    left.spec.priority - right.spec.priority ||
    right.usedMiB - right.requestMiB - (left.usedMiB - left.requestMiB)
  );
}

function exceeds({ usedMiB, requestMiB }: LivePod): boolean {
  return usedMiB > requestMiB;
}
