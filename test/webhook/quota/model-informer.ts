import { PodView, type PodLoad } from '#shared/domain/quota/view/pod-view.ts';
import { QuotaCounter } from '#shared/domain/quota/view/quota-counter.ts';
import { type SeenPod, ViewProof } from '#shared/domain/quota/view/seen-pod.ts';
import type { LedgerView } from '#shared/domain/quota/replica/replica.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { CountedPod } from '#test/build/pod-count.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';
import { costOf, type Lifetime, type ModelApiServer } from './model-api-server.ts';

export interface ModelInformerOptions {
  readonly api: ModelApiServer;
  readonly lifetime: Lifetime;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly random: RandomSource;
  /** Planted bugs. */
  readonly listsHaveHoles: boolean;
  readonly deletionsAreGuessed: boolean;
  readonly agesAreIgnored: boolean;
  readonly proofsAreForged: boolean;
  readonly namespacesAreIgnored: boolean;
}

interface Load {
  readonly token: PodLoad;
  /** Nothing until the list has been answered. */
  items: SeenPod[] | undefined;
}

/**
 * A replica's view of the model's pods, as the informer of production keeps one: a watch that lags behind by any time,
 * lists that come in pieces, epochs that begin at any moment, and namespaces that are heard of late.
 */
export class ModelInformer {
  readonly #options: ModelInformerOptions;
  readonly #view = new PodView();
  readonly #proof = new ViewProof();
  readonly #counter = new QuotaCounter(this.#view);
  /** How many changes the watch has shown. */
  #delivered = 0;
  #known = 0;
  #namespacesReached = 0;
  #hasBegun = false;
  #load: Load | undefined;
  #isProving = false;

  /** The first list of namespaces may be an old one. */
  constructor(options: ModelInformerOptions) {
    this.#options = options;
    const { namespaces } = options.api;
    const listed = 1 + options.random.below(namespaces.length);
    while (this.#known < listed) this.#hearOfNamespace();
    void this.begin();
  }

  /** What its replica sees. */
  readonly ledgerView: LedgerView = {
    count: ({ quota, uid, generation }) => {
      const { agesAreIgnored, namespacesAreIgnored } = this.#options;
      const namespaces = agesAreIgnored || namespacesAreIgnored ? Infinity : this.#namespacesReached;
      const count = this.#counter.count(quota, `${uid} ${generation}`, namespaces);
      return count && agesAreIgnored ? { ...count, reached: { pods: Infinity, namespaces } } : count;
    },
    isNameTaken: (namespace, name) => this.#view.named(namespace, name) !== undefined,
    isGone: (uid) => this.#options.deletionsAreGuessed || this.#view.isGone(uid),
    provenAt: 0,
  };

  /** Whether there is anything left to hear. */
  get isCurrent(): boolean {
    const { podChanges, namespaces } = this.#options.api;
    return this.#view.isWhole && this.#delivered === podChanges.length && this.#known === namespaces.length;
  }

  /** Opens a watch at what the API server is at: what came before may have been missed. */
  async begin(): Promise<void> {
    const { api, lifetime } = this.#options;
    this.#hasBegun = false;
    const at = await api.call(lifetime, () => ({ revision: api.revision(), delivered: api.podChanges.length }));
    if (at === undefined) return this.begin();
    this.#view.begin(at.revision, [...costOf(1).keys()]);
    this.#delivered = at.delivered;
    this.#load = undefined;
    this.#hasBegun = true;
  }

  /** Hears of one thing, or goes on with a list. */
  act(): void {
    const { random } = this.#options;
    if (random.chance(0.1)) this.#hearOfNamespace();
    else if (!this.#hasBegun) return;
    else if (random.chance(0.3)) this.#goOnListing();
    else this.#hearOfPod();
    this.#advanced();
  }

  async prove(): Promise<void> {
    if (this.#isProving || this.#proof.awaitedSince !== undefined) return;
    this.#isProving = true;
    const { api, lifetime, clock, namespacesAreIgnored } = this.#options;
    const askedAt = clock.monotonic();
    const names = await api.call(lifetime, () => api.namespaces.map(({ name }) => name));
    const areKnown = namespacesAreIgnored || names?.every((name) => this.#view.namespaces.has(name)) === true;
    const revision = areKnown ? await api.call(lifetime, () => api.revision()) : undefined;
    this.#isProving = false;
    if (revision === undefined) return;
    this.#proof.await(askedAt, revision, this.#view);
    this.#advanced();
  }

  #advanced(): void {
    const { clock, proofsAreForged } = this.#options;
    this.#proof.update(this.#view);
    Object.assign(this.ledgerView, { provenAt: proofsAreForged ? clock.monotonic() : this.#proof.provenAt });
  }

  /** Or that there is none: a bookmark. */
  #hearOfNamespace(): void {
    const { api } = this.#options;
    const next = api.namespaces[this.#known];
    this.#namespacesReached = next?.revision ?? api.revision();
    if (next === undefined) return;
    this.#known += 1;
    this.#view.addNamespace({ ...next, labels: new Map() });
  }

  #hearOfPod(): void {
    const { api } = this.#options;
    const next = api.podChanges[this.#delivered];
    if (next === undefined) {
      this.#view.reach(api.revision());
      return;
    }
    this.#delivered += 1;
    if (next.isDeletion) this.#view.remove({ ...next.pod, revision: next.revision });
    else this.#view.put(seen(next.pod, next.revision));
    this.#view.reach(next.revision);
  }

  #goOnListing(): void {
    const load = this.#load;
    if (load === undefined) void this.#list();
    else if (load.items !== undefined) this.#takeItems(load, load.items);
  }

  async #list(): Promise<void> {
    const { api, lifetime, random, listsHaveHoles } = this.#options;
    const namespaces = random.chance(0.5) ? this.#view.unlisted : this.#view.unlisted.slice(0, 1);
    if (namespaces.length === 0) return;
    const load: Load = { token: this.#view.load(namespaces), items: undefined };
    this.#load = load;
    const names = new Set(namespaces.map(({ name }) => name));
    const listed = await api.call(lifetime, () => [...api.pods.values()].filter((pod) => names.has(pod.namespace)));
    if (this.#load !== load) return;
    load.items = listed?.filter(() => !listsHaveHoles || random.chance(0.5)).map((pod) => seen(pod, pod.revision));
    if (load.items === undefined) this.#load = undefined;
  }

  #takeItems({ token }: Load, items: SeenPod[]): void {
    for (const item of items.splice(0, 1 + this.#options.random.below(20))) this.#view.putListed(token, item);
    if (items.length > 0) return;
    this.#view.loaded(token);
    Array.from(this.#view.sweep());
    this.#load = undefined;
  }
}

function seen({ uid, name = uid, namespace, amounts, generation = 0 }: CountedPod, revision: number): SeenPod {
  return { uid, namespace, name, amounts, generation, revision, level: { className: '', priority: 0 } };
}
