import { putBounded } from '#shared/domain/base/memoize.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { causeOf, type Evidence } from './cause.ts';
import type { DisruptionSpec } from './disruption.ts';

/** More removals of one owner, or of a namespace without owners, than this within `STORM_MS` are one record with a count. */
const STORM_FROM = 20;
export const STORM_MS = 10_000;
export const MAX_STORM_MS = 60_000;
/** Maximum number of other pods that one record names; the next one begins another record. */
export const MAX_OTHERS = 100;
const MAX_MEMBERS = 20_000;

/** What is known about a removal when it is first observed. */
interface ObservedRemoval {
  readonly pod: Pick<DisruptionSpec, 'owner' | 'podUid' | 'removedAt'> & { readonly namespace: string };
  readonly evidence: Evidence;
}

interface Storm {
  /** UID of the removal whose record represents all of them. */
  readonly uid: string;
  readonly at: Instant;
  readonly lastAt: Instant;
  readonly others: number;
}

/** Owners that lose very many pods at once. Changed in place, like the removals. */
export class Storms {
  readonly #recent = new Map<string, readonly Instant[]>();
  readonly #storms = new Map<string, Storm>();
  readonly #members = new Map<string, string>();

  /**
   * The UID of the removal whose record also represents this one; `undefined` if it has its own record. Only removals
   * with the same cause share one, and none joins a record that is no longer followed.
   */
  join({ pod, evidence }: ObservedRemoval, isFollowed: (uid: string) => boolean): string | undefined {
    const { owner, namespace, podUid, removedAt: at } = pod;
    // Pods without an owner count together: a tenant can create and delete very many of them. A Node owns pods of several
    // namespaces, and a record names only those of its own.
    const key = `${namespace}/${owner?.uid ?? ''}`;
    const recent = [...(this.#recent.get(key) ?? []), at].filter((each) => at - each < STORM_MS).slice(-STORM_FROM - 1);
    this.#recent.set(key, recent);
    if (recent.length <= STORM_FROM) return undefined;
    return this.#joinStorm(`${key} ${causeOf(evidence).cause}`, { uid: podUid, at }, isFollowed);
  }

  /** The removal of which the pod is a part. */
  of(uid: string): string | undefined {
    return this.#members.get(uid);
  }

  prune(now: Instant): void {
    for (const [key, times] of this.#recent) if (now - (times.at(-1) as Instant) >= STORM_MS) this.#recent.delete(key);
    for (const [key, { at }] of this.#storms) if (now - at >= MAX_STORM_MS) this.#storms.delete(key);
  }

  #joinStorm(
    key: string,
    { uid, at }: Pick<Storm, 'uid' | 'at'>,
    isFollowed: (uid: string) => boolean,
  ): string | undefined {
    const storm = this.#storms.get(key);
    if (storm === undefined || isOver(storm, at) || !isFollowed(storm.uid)) {
      this.#storms.set(key, { uid, at, lastAt: at, others: 0 });
      return undefined;
    }
    this.#storms.set(key, { ...storm, lastAt: at, others: storm.others + 1 });
    putBounded(this.#members, MAX_MEMBERS, [uid, storm.uid]);
    return storm.uid;
  }
}

/** Whether no other removal can join it. */
export function isOver({ at, lastAt, others }: Omit<Storm, 'uid'>, now: Instant): boolean {
  return others >= MAX_OTHERS || now - lastAt >= STORM_MS || now - at >= MAX_STORM_MS;
}
