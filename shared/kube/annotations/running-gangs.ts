import { type RunningGang, spareMembers } from '#shared/domain/gang/gang-cost.ts';
import { gangKey, type GangWish } from '#shared/domain/gang/gang.ts';
import { hasEnded, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import type { LimitsOf, RemovalRate } from '#shared/domain/rescheduling/restraint.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { gangWishOf } from './gangs.ts';

const NO_WISH: Partial<GangWish> = {};

type Kept = RunningGang<string> & { readonly running: string[] };

/**
 * The gangs that run, in all namespaces, by the UIDs of their pods. Nothing is kept of pods that name none, nor of those
 * whose minimum only a PodGroup says. Where members name different minima, the lowest counts: it protects least.
 */
export class RunningGangs {
  readonly #gangs = new Map<string, Kept>();
  readonly #byUid = new Map<string, Kept>();

  get isAny(): boolean {
    return this.#byUid.size > 0;
  }

  /** The gang of a pod that runs and does not terminate. */
  readonly of = ({ uid }: Pick<Pod, 'uid'>): RunningGang<string> | undefined => this.#byUid.get(uid);

  observe(pod: Pod): void {
    const runs = isBound(pod) && !hasEnded(pod) && pod.deletion === undefined;
    const { name = '', min, size, problem } = (runs ? gangWishOf(pod) : undefined) ?? NO_WISH;
    const least = min ?? size;
    if (least === undefined || problem !== undefined) this.gone(pod.uid);
    else this.#put(pod.uid, gangKey(pod.namespace, name), least);
  }

  gone(uid: string): void {
    const gang = this.#byUid.get(uid);
    if (gang === undefined) return;
    this.#byUid.delete(uid);
    gang.running.splice(gang.running.indexOf(uid), 1);
    if (gang.running.length === 0) this.#gangs.delete(gang.key);
  }

  #put(uid: string, key: string, min: number): void {
    const before = this.#gangs.get(key);
    if (before !== undefined && before.min <= min && this.#byUid.get(uid) === before) return;
    this.gone(uid);
    const known = this.#gangs.get(key);
    const gang = known !== undefined && known.min <= min ? known : { key, min, running: [...(known?.running ?? [])] };
    gang.running.push(uid);
    this.#gangs.set(key, gang);
    for (const each of gang === known ? [uid] : gang.running) this.#byUid.set(each, gang);
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
