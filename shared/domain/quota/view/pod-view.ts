import {
  CostTable,
  groupOf,
  join,
  leave,
  type NamedPod,
  type NamespacePods,
  type PodFollower,
  type PodGroup,
  type StoredNamespace,
} from './pod-group.ts';
import type { SeenPod } from './seen-pod.ts';

/** A list of pods in progress, and the namespaces that it covers. */
export interface PodLoad {
  readonly epoch: number;
  readonly namespaces: ReadonlySet<NamespacePods>;
}

interface ViewedPod extends NamedPod {
  readonly name: string;
  revision: number;
  generation: number;
  epoch: number;
}

/** Deleted pods are remembered, so that their reservations need not wait to expire. */
const MAX_GONE = 10_000;
const NEVER = -1;
/** Processed per step after a list: some milliseconds of work. */
const PODS_AT_ONCE = 10_000;

/**
 * The pods of all namespaces in which quotas are enforced, as far as quotas charge them, maintained by a watch and
 * lists.
 *
 * An epoch begins with the revision at which a watch was opened; earlier changes may have been missed. Then each
 * namespace is listed once while the watch runs. Of two states of a pod the later revision counts, and a deleted UID
 * never returns, so lists and events may arrive in any order. A pod that appeared in no list and no event of the epoch
 * is gone.
 */
export class PodView {
  #costs = new CostTable([]);
  readonly #pods = new Map<string, ViewedPod>();
  readonly #namespaces = new Map<string, NamespacePods>();
  readonly #gone = new Set<string>();
  readonly #followers = new Set<PodFollower>();
  #life = 0;
  #epoch = 0;
  #position = NEVER;
  /** Not listed in this epoch. */
  readonly #unlisted = new Set<NamespacePods>();
  /** Namespaces that may have lost pods while there was no watch. */
  readonly #unswept = new Set<NamespacePods>();
  /** The epoch of the last complete sweep. */
  #sweptEpoch = NEVER;

  /** The quota resource names whose costs are kept. */
  get names(): readonly string[] {
    return this.#costs.names;
  }

  /** Changes when all known pods have been forgotten. */
  get life(): number {
    return this.#life;
  }

  get size(): number {
    return this.#pods.size;
  }

  /** Every namespace in which quotas are enforced, with its pods. */
  get namespaces(): ReadonlyMap<string, NamespacePods> {
    return this.#namespaces;
  }

  /** The revision up to which the watch has delivered everything. */
  get position(): number {
    return this.#position;
  }

  /** Notifies a follower of every change from now on. */
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
   * A watch begins after `position`; earlier changes may have been missed. If the names change, or revisions go back
   * after a restore of etcd, all known pods are forgotten.
   */
  begin(position: number, names: readonly string[]): void {
    if (position < this.#position || names.join() !== this.names.join()) this.#forget(names);
    for (const namespace of this.#namespaces.values()) {
      namespace.reached = this.reachedBy(namespace);
      this.#unlisted.add(namespace);
      this.#unswept.add(namespace);
    }
    this.#epoch += 1;
    this.#position = position;
  }

  /** The revision up to which every change of the namespace's pods is included; -1 if it has never been listed. */
  reachedBy(namespace: NamespacePods): number {
    return namespace.epoch === this.#epoch ? this.#position : namespace.reached;
  }

  /** The watch has delivered everything up to `position`. */
  reach(position: number): void {
    if (position > this.#position) this.#position = position;
  }

  /** Charges the pods of a namespace, or takes over what has changed of it. */
  addNamespace({ name, labels, revision }: StoredNamespace): void {
    const known = this.#namespaces.get(name);
    if (known !== undefined) {
      Object.assign(known, { labels, revision });
      this.#changed(known);
      return;
    }
    const blank = { holds: 0, epoch: NEVER, reached: NEVER };
    const namespace: NamespacePods = { name, labels, revision, groups: new Map(), byName: new Map(), ...blank };
    this.#namespaces.set(name, namespace);
    this.#unlisted.add(namespace);
    this.#changed(namespace);
  }

  /** Stops charging the pods of a namespace. */
  removeNamespace(name: string): void {
    const namespace = this.#namespaces.get(name);
    if (namespace === undefined) return;
    for (const [uid, entry] of this.#pods) if (entry.group.namespace === namespace) this.#drop(uid, entry);
    this.#namespaces.delete(name);
    this.#unlisted.delete(namespace);
    if (this.#unswept.delete(namespace)) Array.from(this.sweep());
    this.#changed(namespace);
  }

  /** Adds or updates a pod from the watch. */
  put(pod: SeenPod): void {
    const namespace = this.#namespaces.get(pod.namespace);
    if (namespace !== undefined) this.#putInto(namespace, pod);
  }

  /**
   * Adds or updates a pod from a list. If the namespace was removed in the meantime, the list is too old, even if the
   * namespace has come back: deletions in between were missed.
   */
  putListed({ epoch, namespaces }: PodLoad, pod: SeenPod): void {
    const namespace = this.#namespaces.get(pod.namespace);
    if (namespace !== undefined && namespaces.has(namespace) && epoch === this.#epoch) this.#putInto(namespace, pod);
  }

  #putInto(namespace: NamespacePods, pod: SeenPod): void {
    if (this.#gone.has(pod.uid)) return;
    const before = this.#pods.get(pod.uid);
    if (before === undefined) this.#add(pod, namespace);
    else if (before.revision >= pod.revision) before.epoch = this.#epoch;
    else this.#update(pod, before, namespace);
    this.#movedOn(namespace, pod.revision);
  }

  /** A pod was deleted; `revision` is that of the deletion. */
  remove({ uid, namespace: name, revision }: Pick<SeenPod, 'uid' | 'namespace' | 'revision'>): void {
    const namespace = this.#namespaces.get(name);
    if (namespace === undefined) return;
    this.#movedOn(namespace, revision);
    const before = this.#pods.get(uid);
    if (before !== undefined) this.#drop(uid, before);
    this.#gone.add(uid);
    this.#forgetGone();
  }

  /** Starts a list of these namespaces or of all unlisted ones. */
  load(namespaces: readonly NamespacePods[] = this.unlisted): PodLoad {
    return { epoch: this.#epoch, namespaces: new Set(namespaces) };
  }

  /**
   * Ends a list whose items were all passed to `putListed`. `sweep` then finds the pods that were deleted while there
   * was no watch.
   */
  loaded({ epoch, namespaces }: PodLoad): void {
    if (epoch !== this.#epoch) return;
    for (const namespace of namespaces) {
      namespace.epoch = epoch;
      this.#unlisted.delete(namespace);
      this.#unswept.delete(namespace);
    }
    this.#forgetGone();
  }

  /**
   * Once every namespace from before this epoch is listed, removes the pods that no list and no event has shown.
   * Iterate to the end and pause at each yield: one pass over all pods would block for too long.
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

  /** The generation and the group of a known pod. */
  get(uid: string): { readonly group: PodGroup; readonly generation: number } | undefined {
    return this.#pods.get(uid);
  }

  /** The pod of this name, if it is known to exist. */
  named(namespace: string, name: string): NamedPod | undefined {
    return this.#namespaces.get(namespace)?.byName.get(name);
  }

  /** Whether a pod was known and is gone for good; false for an unknown pod is harmless. */
  isGone(uid: string): boolean {
    return this.#gone.has(uid);
  }

  #add(pod: SeenPod, namespace: NamespacePods): void {
    const { uid, name, revision, generation, level, amounts } = pod;
    const group = groupOf(namespace, level, this.names.length);
    const cost = level === undefined || amounts === undefined ? undefined : this.#costs.take(amounts);
    if (cost === undefined) group.unreadable.set(uid, name);
    const viewed = { name, group, cost, revision, generation, epoch: this.#epoch };
    this.#pods.set(uid, viewed);
    namespace.byName.set(name, viewed);
    join(group, cost);
    for (const follower of this.#followers) follower.podJoined(group, cost);
  }

  /** Most changes of a pod do not change its cost. */
  #update(pod: SeenPod, before: ViewedPod, namespace: NamespacePods): void {
    const { revision, generation, level, amounts } = pod;
    const isSame = before.cost !== undefined && amounts !== undefined && this.#costs.isCost(before.cost, amounts);
    if (isSame && before.group === groupOf(namespace, level, this.names.length)) {
      Object.assign(before, { revision, generation, epoch: this.#epoch });
      return;
    }
    this.#drop(pod.uid, before);
    this.#add(pod, namespace);
  }

  #drop(uid: string, viewed: ViewedPod): void {
    const { name, group, cost } = viewed;
    this.#pods.delete(uid);
    if (group.namespace.byName.get(name) === viewed) group.namespace.byName.delete(name);
    group.unreadable.delete(uid);
    leave(group, cost);
    if (cost !== undefined) this.#costs.giveBack(cost);
    for (const follower of this.#followers) follower.podLeft(group, cost);
  }

  #movedOn(namespace: NamespacePods, revision: number): void {
    namespace.holds = Math.max(namespace.holds, revision);
    for (const follower of this.#followers) follower.podsMovedOn(namespace);
  }

  #changed(namespace: NamespacePods): void {
    for (const follower of this.#followers) follower.namespaceChanged(namespace);
  }

  /** Keeps all deleted UIDs while lists are in progress, which may still show them. */
  #forgetGone(): void {
    if (!this.isWhole) return;
    for (const uid of this.#gone) {
      if (this.#gone.size <= MAX_GONE) return;
      this.#gone.delete(uid);
    }
  }

  #forget(names: readonly string[]): void {
    this.#life += 1;
    this.#costs = new CostTable(names);
    this.#pods.clear();
    this.#gone.clear();
    for (const namespace of this.#namespaces.values()) {
      namespace.groups.clear();
      namespace.byName.clear();
      Object.assign(namespace, { holds: 0, epoch: NEVER, reached: NEVER });
    }
  }
}
