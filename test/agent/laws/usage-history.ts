import { type LawNode, type LivePod, TICK_MS } from './node.ts';

/** The shortest window in which the agent sees growth begins between five and ten seconds ago. */
const WINDOWS_MS = [5000, 10_000] as const;
/** A decision may use a measurement this old. */
const MEASURED_MS = 1200;
/** Smaller differences of a working set are no growth. */
const LEAST_GROWTH_MIB = 8;
const KEPT = (10_000 + MEASURED_MS) / TICK_MS + 1;

/** What each pod used in the last ten seconds, and a moment more. */
export class UsageHistory {
  readonly #used: ReadonlyMap<string, number>[] = [];
  #first: ReadonlyMap<string, number> | undefined;

  /** At the end of a tick. */
  note({ pods }: LawNode): void {
    const used = new Map(pods.map(({ uid, usedMiB }) => [uid, usedMiB]));
    this.#first ??= used;
    this.#used.push(used);
    if (this.#used.length > KEPT) this.#used.shift();
  }

  /** Whether one pod took more than another in a window that the agent may see, now or when it last measured. */
  tookMore(one: LivePod, other: LivePod): boolean {
    return [0, MEASURED_MS].some((agoMs) =>
      WINDOWS_MS.some((ms) => this.#taken(one, ms, agoMs) > this.#taken(other, ms, agoMs)),
    );
  }

  /** The same since the episode began, which the longer windows show. */
  tookMoreSinceStart(one: LivePod, other: LivePod): boolean {
    const taken = (pod: LivePod): number => this.usedMiB(pod) - (this.#first?.get(pod.uid) ?? 0);
    return taken(one) > taken(other);
  }

  /** Whether it took no less, but for a difference too small to be growth. */
  tookAlike(one: LivePod, other: LivePod): boolean {
    return WINDOWS_MS.some((ms) => this.#taken(one, ms, 0) > this.#taken(other, ms, 0) - LEAST_GROWTH_MIB);
  }

  /** What a pod uses, or used until the kernel killed it a moment ago. */
  usedMiB({ uid, usedMiB }: LivePod): number {
    return Math.max(usedMiB, this.#used.at(-1)?.get(uid) ?? 0);
  }

  /** Since it used least: of a pod that has come since or was killed, all that it uses. */
  #taken(pod: LivePod, withinMs: number, agoMs: number): number {
    const end = this.#used.length - agoMs / TICK_MS;
    const window = this.#used.slice(Math.max(0, end - withinMs / TICK_MS), Math.max(1, end));
    const usedMiB = agoMs === 0 ? this.usedMiB(pod) : (window.at(-1)?.get(pod.uid) ?? 0);
    return usedMiB - Math.min(...window.map((used) => used.get(pod.uid) ?? 0));
  }
}
