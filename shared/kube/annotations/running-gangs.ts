import { type RunningGang, spareMembers } from '#shared/domain/gang/gang-cost.ts';
import { gangKey, type GangWish } from '#shared/domain/gang/gang.ts';
import { hasEnded, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import type { LimitsOf, RemovalRate } from '#shared/domain/rescheduling/restraint.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { gangWishOf } from './gangs.ts';

const NO_WISH: Partial<GangWish> = {};

type Kept = RunningGang<string> & { readonly running: string[] };

interface Place {
  readonly gang: Kept;
  /** Where the pod stands among those of the gang. */
  readonly at: number;
}

/**
 * The gangs that run, in all namespaces, by the UIDs of their pods. Nothing is kept of pods that name none, nor of those
 * whose minimum only a PodGroup says. Where members name different minima, the lowest counts: it protects least.
 */
export class RunningGangs {
  readonly #gangs = new Map<string, Kept>();
  readonly #byUid = new Map<string, Place>();

  get isAny(): boolean {
    return this.#byUid.size > 0;
  }

  /** The gang of a pod that runs and does not terminate. */
  readonly of = ({ uid }: Pick<Pod, 'uid'>): RunningGang<string> | undefined => this.#byUid.get(uid)?.gang;

  observe(pod: Pod): void {
    const runs = isBound(pod) && !hasEnded(pod) && pod.deletion === undefined;
    const { name = '', min, size, problem } = (runs ? gangWishOf(pod) : undefined) ?? NO_WISH;
    const least = min ?? size;
    if (least === undefined || problem !== undefined) this.gone(pod.uid);
    else this.#put(pod.uid, gangKey(pod.namespace, name), least);
  }

  /** The last pod of the gang takes its place: of a gang of many pods, none of the others is looked at. */
  gone(uid: string): void {
    const place = this.#byUid.get(uid);
    if (place === undefined) return;
    const { gang, at } = place;
    const last = gang.running.pop() ?? uid;
    if (last !== uid) this.#set(last, gang, at);
    this.#byUid.delete(uid);
    if (gang.running.length === 0) this.#gangs.delete(gang.key);
  }

  #put(uid: string, key: string, min: number): void {
    const before = this.#gangs.get(key);
    if (before !== undefined && before.min <= min && this.#byUid.get(uid)?.gang === before) return;
    this.gone(uid);
    const gang = this.#gangWith(key, min);
    this.#set(uid, gang, gang.running.length);
  }

  /** Where the minimum was higher, the pods that are known move to a gang with this one. */
  #gangWith(key: string, min: number): Kept {
    const known = this.#gangs.get(key);
    if (known !== undefined && known.min <= min) return known;
    const gang = { key, min, running: [] };
    this.#gangs.set(key, gang);
    for (const each of known?.running ?? []) this.#set(each, gang, gang.running.length);
    return gang;
  }

  #set(uid: string, gang: Kept, at: number): void {
    gang.running[at] = uid;
    this.#byUid.set(uid, { gang, at });
  }
}

/** Those of a snapshot that does not change. */
export function runningGangsIn({ placedPods }: Pick<ClusterSnapshot, 'placedPods'>): RunningGangs {
  const gangs = new RunningGangs();
  for (const { pod } of placedPods.values()) gangs.observe(pod);
  return gangs;
}

/** The limits of pods, with one for each gang: as many of its pods may be moved as it can spare. */
export function withGangLimits(limitsOf: LimitsOf, gangs: Pick<RunningGangs, 'of'>): LimitsOf {
  const rates = new Map<RunningGang<string>, RemovalRate>();
  return (pod) => {
    const gang = gangs.of(pod);
    if (gang === undefined) return limitsOf(pod);
    const rate = rates.get(gang) ?? { name: `gang ${gang.key}`, left: spareMembers(gang) };
    rates.set(gang, rate);
    return [...limitsOf(pod), rate];
  };
}
