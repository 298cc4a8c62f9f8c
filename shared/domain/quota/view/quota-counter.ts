import {
  type Amounts,
  addQuantities,
  multiplyQuantity,
  quantityFromInteger,
  quantityNumber,
  subtractQuantities,
  ZERO,
  type Quantity,
} from '#shared/domain/quantity/quantity.ts';
import { largestNamespaces, largestShare, ledgerPlaces } from '#shared/domain/quota/ledger/namespace-bounds.ts';
import type { PodCount } from '#shared/domain/quota/ledger/ledger-state.ts';
import { unstatedName, withDefault } from '#shared/domain/quota/charge.ts';
import { isInScope, type PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { Cost, NamedPod, NamespacePods, PodFollower, PodGroup } from './pod-group.ts';
import type { PodView } from './pod-view.ts';
import { NO_REVISION, type ViewRevision } from './seen-pod.ts';

/** What of the counted pods is not charged as they request it. */
export interface UnchargedPods {
  /** Some pods that cannot be read, `namespace/name`: each is counted with the full limit of the quota. */
  readonly unreadable: readonly string[];
  /** How many containers do not state a value and are charged nothing for it, by resource; without zeros. */
  readonly unstated: ReadonlyMap<string, number>;
}

/** A count of the pods in a view, and the revisions that it includes. */
export interface QuotaCount extends PodCount, UnchargedPods {
  /** The count includes every change up to this revision that concerns the quota. */
  readonly reached: ViewRevision;
  /** The count includes no change after this revision. */
  readonly holds: ViewRevision;
}

type UsageSums = readonly Quantity[];

/** A limited resource: the index of its amounts in the view, and what is charged where an amount is missing. */
interface CountedResource {
  readonly at: number;
  /** The index of the number of containers that do not state it; the same where they need not. */
  readonly unstatedAt: number;
  readonly ofUnstated: Quantity;
  readonly ofUnreadable: Quantity;
}

const ONE = quantityFromInteger(1, 'DecimalSI');
/** Resource names in which every pod counts as one. */
const NUMBERS_OF_PODS: ReadonlySet<string> = new Set(['pods', 'count/pods']);
const MAX_UNREADABLE = 10;
/** Namespaces processed per step when a quota is new or has changed: some milliseconds of work. */
const NAMESPACES_AT_ONCE = 100;
/** With more namespaces, finding the largest ones takes a while. */
const FEW_NAMESPACES = 100;

/**
 * Counts the pods of one quota: sums up the pods of a view once and then follows changes, so that a count costs next to
 * nothing regardless of the number of pods and namespaces.
 */
export class QuotaCounter implements PodFollower {
  readonly #view: PodView;
  #quota: PriorityQuota | undefined;
  #version = '';
  #limits: readonly CountedResource[] = [];
  #total: Quantity[] = [];
  #holds: ViewRevision = NO_REVISION;
  /** Namespaces not processed yet for this version of the quota. */
  readonly #awaiting = new Set<NamespacePods>();
  readonly #inForce = new Set<NamespacePods>();
  readonly #odd = new Set<PodGroup>();
  /** The largest share of a limit of each namespace with usage, by name; out of date for those in `#changed`. */
  readonly #shares = new Map<string, number>();
  readonly #changed = new Set<NamespacePods>();
  #byNamespace: ReadonlyMap<string, Amounts> | undefined;

  constructor(view: PodView) {
    this.#view = view;
    view.follow(this);
  }

  /** Stops counting. */
  close(): void {
    this.#view.unfollow(this);
  }

  /**
   * A count for this `version` of the quota; `undefined` while a namespace in which it is enforced has not been listed,
   * and until `takeUp` has processed all. `namespaces` is the revision that the watch of namespaces has reached.
   */
  count(quota: PriorityQuota, version: string, namespaces: number): QuotaCount | undefined {
    this.#startOverIfNew(quota, `${version} ${this.#view.life}`);
    const pods = this.takeUp() ? this.#reached() : -1;
    if (pods < 0 || this.#limits.slice(0, quota.hard.size).some(({ at }) => at < 0)) return undefined;
    return {
      total: named(quota, this.#total),
      byNamespace: (isExact) => this.#largest(quota, isExact),
      generationOf: (uid) => this.#generationOf(uid),
      costOf: (namespace, name) => this.#costOf(quota, this.#view.named(namespace, name)),
      reached: { pods, namespaces },
      holds: this.#holds,
      unreadable: this.#unreadable(),
      unstated: this.#unstatedIn(quota),
    };
  }

  /** Whether all namespaces have been processed for this version of the quota. */
  get isTakenUp(): boolean {
    return this.#awaiting.size === 0;
  }

  /** Processes some more namespaces and returns whether all are done: ten thousand at once would block for too long. */
  takeUp(): boolean {
    let left = NAMESPACES_AT_ONCE;
    for (const namespace of this.#awaiting) {
      if (left === 0) return false;
      left -= 1;
      this.#awaiting.delete(namespace);
      this.namespaceChanged(namespace);
    }
    return true;
  }

  podJoined(group: PodGroup, cost: Cost | undefined): void {
    if (this.#counts(group)) this.#change(cost, group, addQuantities);
  }

  podLeft(group: PodGroup, cost: Cost | undefined): void {
    if (this.#counts(group)) this.#change(cost, group, subtractQuantities);
  }

  namespaceChanged(namespace: NamespacePods): void {
    if (this.#quota === undefined) return;
    const isInForce =
      this.#view.namespaces.get(namespace.name) === namespace && this.#quota.namespaces.matches(namespace.labels);
    if (isInForce !== this.#inForce.has(namespace)) this.#setInForce(namespace, isInForce, this.#quota);
    this.podsMovedOn(namespace);
  }

  podsMovedOn(namespace: NamespacePods): void {
    if (!this.#inForce.has(namespace)) return;
    const { pods, namespaces } = this.#holds;
    if (namespace.holds <= pods && namespace.revision <= namespaces) return;
    this.#holds = { pods: Math.max(pods, namespace.holds), namespaces: Math.max(namespaces, namespace.revision) };
  }

  #startOverIfNew(quota: PriorityQuota, version: string): void {
    if (version === this.#version) return;
    this.#version = version;
    this.#quota = quota;
    this.#limits = limitsOf(quota, this.#view.names);
    this.#total = this.#limits.map(() => ZERO);
    this.#holds = NO_REVISION;
    for (const known of [this.#inForce, this.#odd, this.#shares, this.#changed]) known.clear();
    this.#byNamespace = undefined;
    for (const namespace of this.#view.namespaces.values()) this.#awaiting.add(namespace);
  }

  /** Starts or stops counting a namespace; a removed namespace has no pods any more. */
  #setInForce(namespace: NamespacePods, isInForce: boolean, quota: PriorityQuota): void {
    if (isInForce) this.#inForce.add(namespace);
    const sums = this.#sumsIn(namespace);
    this.#total = this.#total.map((sum, at) => (isInForce ? addQuantities : subtractQuantities)(sum, sums[at] ?? ZERO));
    for (const group of namespace.groups.values()) if (this.#counts(group)) this.#noteOdd(group, isInForce);
    this.#changed.delete(namespace);
    if (isInForce) {
      this.#noteShare(namespace.name, shareOf(sums, quota));
    } else {
      this.#inForce.delete(namespace);
      this.#shares.delete(namespace.name);
    }
  }

  #change(cost: Cost | undefined, group: PodGroup, by: typeof addQuantities): void {
    for (const [index, limit] of this.#limits.entries()) {
      const amount = cost === undefined ? limit.ofUnreadable : amountIn(cost.amounts, limit);
      this.#total[index] = by(this.#total[index] ?? ZERO, amount);
    }
    this.#changed.add(group.namespace);
    if (cost === undefined) this.#noteOdd(group, true);
  }

  #noteOdd(group: PodGroup, isInForce: boolean): void {
    if (isInForce && group.unreadable.size > 0) this.#odd.add(group);
    else this.#odd.delete(group);
  }

  #counts({ namespace, level }: PodGroup): boolean {
    if (this.#quota === undefined || !this.#inForce.has(namespace)) return false;
    return level === undefined || isInScope(this.#quota.scope, level);
  }

  #sumsIn({ groups }: NamespacePods): UsageSums {
    const counted: PodGroup[] = [];
    for (const group of groups.values()) if (this.#counts(group)) counted.push(group);
    return this.#limits.map((limit) =>
      counted.reduce((sum, group) => addQuantities(sum, sumOfGroup(group, limit)), ZERO),
    );
  }

  #reached(): number {
    let reached = this.#view.position;
    if (this.#view.isWhole) return reached;
    for (const namespace of this.#inForce) reached = Math.min(reached, this.#view.reachedBy(namespace));
    return reached;
  }

  #largest(quota: PriorityQuota, isExact: boolean): ReadonlyMap<string, Amounts> {
    if (!isExact && this.#inForce.size > FEW_NAMESPACES && this.#byNamespace !== undefined) return this.#byNamespace;
    for (const namespace of this.#changed) this.#noteShare(namespace.name, shareOf(this.#sumsIn(namespace), quota));
    this.#changed.clear();
    const largest = largestNamespaces(this.#shares, ledgerPlaces(quota.hard).namespaces);
    return (this.#byNamespace = new Map(largest.map((name) => [name, this.#usedIn(name, quota)])));
  }

  #noteShare(name: string, share: number): void {
    if (share > 0) this.#shares.set(name, share);
    else this.#shares.delete(name);
  }

  #usedIn(name: string, quota: PriorityQuota): Amounts {
    const namespace = this.#view.namespaces.get(name);
    return named(quota, namespace === undefined ? [] : this.#sumsIn(namespace));
  }

  #unreadable(): readonly string[] {
    const all = Array.from(this.#odd, ({ namespace, unreadable }) =>
      [...unreadable.values()].map((pod) => `${namespace.name}/${pod}`),
    );
    return all.flat().slice(0, MAX_UNREADABLE);
  }

  /** Only pods from before the quota, or before its webhook, are among them. */
  #unstatedIn(quota: PriorityQuota): ReadonlyMap<string, number> {
    const counts = unpricedNames(quota).map((name, index): [string, number] => {
      return [name, quantityNumber(this.#total[quota.hard.size + index] ?? ZERO)];
    });
    return new Map(counts.filter(([, count]) => count > 0));
  }

  /** What of the total is that of one pod. */
  #costOf(quota: PriorityQuota, pod: NamedPod | undefined): Amounts | undefined {
    const amounts = pod !== undefined && this.#counts(pod.group) ? pod.cost?.amounts : undefined;
    const costs = amounts && this.#limits.map((limit) => amountIn(amounts, limit));
    return costs && named(quota, costs);
  }

  #generationOf(uid: string): number | undefined {
    const found = this.#view.get(uid);
    return found !== undefined && this.#counts(found.group) ? found.generation : undefined;
  }
}

/** One for each resource of `hard`, then one that counts what is unstated for each resource without a default. */
function limitsOf(quota: PriorityQuota, names: readonly string[]): readonly CountedResource[] {
  const counting = unpricedNames(quota).map((name): CountedResource => {
    const at = names.indexOf(unstatedName(name) ?? '');
    return { at, unstatedAt: at, ofUnstated: ZERO, ofUnreadable: ZERO };
  });
  return [...Array.from(quota.hard.keys(), (name) => limitOf(name, quota, names)), ...counting];
}

function unpricedNames({ hard, defaultRequest }: PriorityQuota): readonly string[] {
  return [...hard.keys()].filter((name) => unstatedName(name) !== undefined && !defaultRequest.has(name));
}

function shareOf(sums: UsageSums, { hard }: PriorityQuota): number {
  return largestShare(sums.slice(0, hard.size), [...hard.values()]);
}

function limitOf(name: string, quota: PriorityQuota, names: readonly string[]): CountedResource {
  const limit = quota.hard.get(name) ?? ZERO;
  return {
    at: names.indexOf(name),
    unstatedAt: names.indexOf(unstatedName(name) ?? name),
    ofUnstated: quota.defaultRequest.get(name) ?? ZERO,
    ofUnreadable: NUMBERS_OF_PODS.has(name) ? ONE : limit,
  };
}

/** What one or more pods cost of a limited resource, those that cannot be read left out. */
function amountIn(amounts: readonly Quantity[], { at, unstatedAt, ofUnstated }: CountedResource): Quantity {
  const stated = amounts[at] ?? ZERO;
  return unstatedAt === at ? stated : withDefault(stated, amounts[unstatedAt] ?? ZERO, ofUnstated);
}

function sumOfGroup({ sums, unreadable }: PodGroup, limit: CountedResource): Quantity {
  const sum = amountIn(sums, limit);
  return unreadable.size === 0 ? sum : addQuantities(sum, multiplyQuantity(limit.ofUnreadable, unreadable.size));
}

function named({ hard }: PriorityQuota, sums: UsageSums): Amounts {
  return new Map(Array.from(hard.keys(), (name, at) => [name, sums[at] ?? ZERO]));
}
