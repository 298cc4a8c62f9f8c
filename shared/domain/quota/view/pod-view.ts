import { CostTable, type Cost } from './cost-table.ts';
import { groupOf, join, leave, type NamespacePods, type PodGroup } from './pod-group.ts';
import type { PodFollower } from './pod-follower.ts';
import type { SeenPod } from './seen-pod.ts';

/** A namespace in which quotas are in force, as the API server has it. */
export interface GovernedNamespace {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly revision: number;
}

/** A list of pods under way: which namespaces will have been listed by it. */
export interface PodLoad {
  readonly epoch: number;
  readonly homes: ReadonlySet<NamespacePods>;
}

interface Entry {
  readonly group: PodGroup;
  /** `undefined` where it cannot be read. */
  readonly cost: Cost | undefined;
  revision: number;
  generation: number;
  epoch: number;
}

/** Pods that went lately are remembered, so that what was reserved for them need not wait to expire. */
const MOST_GONE = 10_000;
const NEVER = -1;
/** Looked at in one go after a list: some milliseconds of work. */
const PODS_AT_ONCE = 10_000;

/**
 * The pods of all namespaces in which quotas are in force, as far as quotas charge them, kept by a watch and by lists.
 *
 * An epoch begins with a revision at which a watch was opened, after everything before may have been missed; then each
 * namespace is listed once while the watch goes on. Of two states of a pod the one of the later revision counts, and a
 * UID that was deleted never comes back; so it does not matter which of the two brings what. A pod that no list of the
 * epoch showed, and no event, is gone.
 */
export class PodView {
  #costs = new CostTable([]);
  readonly #pods = new Map<string, Entry>();
  readonly #homes = new Map<string, NamespacePods>();
  readonly #gone = new Set<string>();
  readonly #followers = new Set<PodFollower>();
  #life = 0;
  #epoch = 0;
  #position = NEVER;
  /** Not listed in this epoch. */
  readonly #unlisted = new Set<NamespacePods>();
  /** Of these there may be pods that went while nobody watched. */
  readonly #unswept = new Set<NamespacePods>();
  /** In which epoch those were last looked for to the end. */
  #sweptEpoch = NEVER;

  /** The quota entries that are kept of what pods cost. */
  get names(): readonly string[] {
    return this.#costs.names;
  }

  /** Changes when everything that was known has been forgotten. */
  get life(): number {
    return this.#life;
  }

  get size(): number {
    return this.#pods.size;
  }

  /** Every governed namespace, with its pods. */
  get homes(): ReadonlyMap<string, NamespacePods> {
    return this.#homes;
  }

  /** Up to where the watch has shown everything. */
  get position(): number {
    return this.#position;
  }

  /** Tells a follower of every change from now on. */
  follow(follower: PodFollower): void {
    this.#followers.add(follower);
  }

  unfollow(follower: PodFollower): void {
    this.#followers.delete(follower);
  }

  /** Namespaces that have to be listed. */
  get unlisted(): readonly NamespacePods[] {
    return [...this.#unlisted];
  }

  get isWhole(): boolean {
    return this.#unlisted.size === 0;
  }

  /**
   * A watch begins after `position`, and what came before may have been missed. With other names, or when revisions went
   * back, as in an etcd that was restored, nothing of what was known can be used.
   */
  begin(position: number, names: readonly string[]): void {
    if (position < this.#position || names.join() !== this.names.join()) this.#forget(names);
    for (const home of this.#homes.values()) {
      home.reached = this.reachedBy(home);
      this.#unlisted.add(home);
      this.#unswept.add(home);
    }
    this.#epoch += 1;
    this.#position = position;
  }

  /** Up to which revision every change of the namespace's pods is in here; -1 where it has never been listed. */
  reachedBy(home: NamespacePods): number {
    return home.epoch === this.#epoch ? this.#position : home.reached;
  }

  /** Everything up to `position` has been shown by the watch. */
  reach(position: number): void {
    if (position > this.#position) this.#position = position;
  }

  govern({ name, labels, revision }: GovernedNamespace): void {
    const known = this.#homes.get(name);
    if (known !== undefined) {
      Object.assign(known, { labels, revision });
      this.#changed(known);
      return;
    }
    const blank = { groups: new Map<string, PodGroup>(), holds: 0, epoch: NEVER, reached: NEVER };
    const home: NamespacePods = { name, labels, revision, ...blank };
    this.#homes.set(name, home);
    this.#unlisted.add(home);
    this.#changed(home);
  }

  /** Its pods are not charged any more. */
  release(name: string): void {
    const home = this.#homes.get(name);
    if (home === undefined) return;
    for (const [uid, entry] of this.#pods) if (entry.group.home === home) this.#drop(uid, entry);
    this.#homes.delete(name);
    this.#unlisted.delete(home);
    if (this.#unswept.delete(home)) Array.from(this.sweep());
    this.#changed(home);
  }

  /** A pod as the watch shows it. */
  put(pod: SeenPod): void {
    const home = this.#homes.get(pod.namespace);
    if (home !== undefined) this.#putInto(home, pod);
  }

  /**
   * A pod as a list shows it. What the list shows of a namespace that was released meanwhile is too old, also when the
   * namespace has come back: deletions in between were not heard.
   */
  putListed({ epoch, homes }: PodLoad, pod: SeenPod): void {
    const home = this.#homes.get(pod.namespace);
    if (home !== undefined && homes.has(home) && epoch === this.#epoch) this.#putInto(home, pod);
  }

  #putInto(home: NamespacePods, pod: SeenPod): void {
    if (this.#gone.has(pod.uid)) return;
    const before = this.#pods.get(pod.uid);
    if (before === undefined) this.#add(pod, home);
    else if (before.revision >= pod.revision) before.epoch = this.#epoch;
    else this.#update(pod, before, home);
    this.#movedOn(home, pod.revision);
  }

  /** A pod was deleted; `revision` is that of the deletion. */
  remove({ uid, namespace, revision }: Pick<SeenPod, 'uid' | 'namespace' | 'revision'>): void {
    const home = this.#homes.get(namespace);
    if (home === undefined) return;
    this.#movedOn(home, revision);
    const before = this.#pods.get(uid);
    if (before !== undefined) this.#drop(uid, before);
    this.#gone.add(uid);
    this.#forgetGone();
  }

  /** A list begins, of these namespaces or of all that are not listed yet. */
  load(homes: readonly NamespacePods[] = this.unlisted): PodLoad {
    return { epoch: this.#epoch, homes: new Set(homes) };
  }

  /** It ended, and all of it was `putListed`. What went while nobody watched is found by `sweep`. */
  loaded({ epoch, homes }: PodLoad): void {
    if (epoch !== this.#epoch) return;
    for (const home of homes) {
      if (this.#homes.get(home.name) !== home) continue;
      home.epoch = epoch;
      this.#unlisted.delete(home);
      this.#unswept.delete(home);
    }
    this.#forgetGone();
  }

  /**
   * Once all that was there before this epoch is listed, what no list and no event has shown is gone. To be iterated to
   * its end, with a pause wherever it yields: to look at all pods at once blocks for too long.
   */
  *sweep(): Generator<void, void, void> {
    const epoch = this.#epoch;
    if (this.#sweptEpoch === epoch || this.#unswept.size > 0) return;
    let looked = 0;
    for (const [uid, entry] of this.#pods) {
      if (entry.epoch !== epoch) this.#drop(uid, entry);
      looked += 1;
      if (looked % PODS_AT_ONCE === 0) yield;
      if (epoch !== this.#epoch) return;
    }
    this.#sweptEpoch = epoch;
  }

  /** The generation of a pod that is here, and its group. */
  get(uid: string): { readonly group: PodGroup; readonly generation: number } | undefined {
    return this.#pods.get(uid);
  }

  /** Whether a pod was here and is gone for good; not knowing one is no harm. */
  isGone(uid: string): boolean {
    return this.#gone.has(uid);
  }

  #add(pod: SeenPod, home: NamespacePods): void {
    const { uid, name, revision, generation, level, amounts } = pod;
    const group = groupOf(home, level, this.names.length);
    const cost = level === undefined || amounts === undefined ? undefined : this.#costs.take(amounts);
    if (cost === undefined) group.unreadable.set(uid, name);
    this.#pods.set(uid, { group, cost, revision, generation, epoch: this.#epoch });
    join(group, cost);
    for (const follower of this.#followers) follower.podJoined(group, cost);
  }

  /** Most changes of a pod are none of its cost. */
  #update(pod: SeenPod, before: Entry, home: NamespacePods): void {
    const { revision, generation, level, amounts } = pod;
    const isSame = before.cost !== undefined && amounts !== undefined && this.#costs.isCost(before.cost, amounts);
    if (isSame && before.group === groupOf(home, level, this.names.length)) {
      Object.assign(before, { revision, generation, epoch: this.#epoch });
      return;
    }
    this.#drop(pod.uid, before);
    this.#add(pod, home);
  }

  #drop(uid: string, { group, cost }: Entry): void {
    this.#pods.delete(uid);
    group.unreadable.delete(uid);
    leave(group, cost);
    if (cost !== undefined) this.#costs.giveBack(cost);
    for (const follower of this.#followers) follower.podLeft(group, cost);
  }

  #movedOn(home: NamespacePods, revision: number): void {
    home.holds = Math.max(home.holds, revision);
    for (const follower of this.#followers) follower.podsMovedOn(home);
  }

  #changed(home: NamespacePods): void {
    for (const follower of this.#followers) follower.namespaceChanged(home);
  }

  /** While lists are under way, they may still show what is gone. */
  #forgetGone(): void {
    if (!this.isWhole) return;
    for (const uid of this.#gone) {
      if (this.#gone.size <= MOST_GONE) return;
      this.#gone.delete(uid);
    }
  }

  #forget(names: readonly string[]): void {
    this.#life += 1;
    this.#costs = new CostTable(names);
    this.#pods.clear();
    this.#gone.clear();
    for (const home of this.#homes.values()) {
      home.groups.clear();
      Object.assign(home, { holds: 0, epoch: NEVER, reached: NEVER });
      this.#changed(home);
    }
  }
}
