import { type LawNode, type LivePod, TICK_MS } from './node.ts';

/** The shortest window in which the agent sees growth begins between five and ten seconds ago. */
const WINDOWS_MS = [5000, 10_000] as const;
const KEPT = 10_000 / TICK_MS + 1;

/** What each pod used in the last ten seconds. */
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

  /** Whether one pod took more than another in a window that the agent may see. */
  tookMore(one: LivePod, other: LivePod): boolean {
    return WINDOWS_MS.some((ms) => this.#taken(one, ms) > this.#taken(other, ms));
  }

  /** The same since the episode began, which the longer windows show. */
  tookMoreSinceStart(one: LivePod, other: LivePod): boolean {
    const taken = (pod: LivePod): number => this.usedMiB(pod) - (this.#first?.get(pod.uid) ?? 0);
    return taken(one) > taken(other);
  }

  /** What a pod uses, or used until the kernel killed it a moment ago. */
  usedMiB({ uid, usedMiB }: LivePod): number {
    return Math.max(usedMiB, this.#used.at(-1)?.get(uid) ?? 0);
  }

  /** Since it used least: of a pod that has come since or was killed, all that it uses. */
  #taken(pod: LivePod, withinMs: number): number {
    const window = this.#used.slice(-withinMs / TICK_MS);
    return this.usedMiB(pod) - Math.min(...window.map((used) => used.get(pod.uid) ?? 0));
  }
}
