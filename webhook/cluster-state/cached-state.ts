import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { NO_KNOWN_PODS } from '#shared/domain/admission/known-pods.ts';
import type { PriorityClass } from '#shared/domain/priority/priority-class.ts';
import type { Reflector } from '#shared/kube/reflector.ts';
import { QUOTA_NAMESPACES } from '#shared/kube/webhook-configurations.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { byNamespace } from './by-namespace.ts';
import type { Caches } from './caches.ts';

/** Gives the cluster as the caches know it now; throws while any of them has not been filled. */
export type StateReader = () => ClusterState;

/** A reader whose indexes are renewed only when something has changed. */
export function createStateReader(caches: Caches, clock: Clock): StateReader {
  const classes = derived(
    caches.classes,
    (all): ReadonlyMap<string, PriorityClass> => new Map(all.map((each) => [each.name, each])),
  );
  const policies = derived(caches.policies, (all) => all.toSorted(byName));
  const priorityQuotas = derived(caches.priorityQuotas, (all) => all.toSorted(byName));
  const lookUps = {
    namespaceNames: derived(caches.namespaces, (all) => all.map(({ name }) => name).sort()),
    namespaceLabels: (namespace: string) => caches.namespaces.get(namespace)?.labels,
    resourceQuotas: byNamespace(caches.resourceQuotas),
    quotaNamespaces: QUOTA_NAMESPACES,
    knownPods: NO_KNOWN_PODS,
  };
  let isFilled = false;
  return () => {
    if (!isFilled) assertSynced(caches);
    // A cache that has been filled once stays so.
    isFilled = true;
    return {
      now: clock.now(),
      classes: classes(),
      policies: policies(),
      priorityQuotas: priorityQuotas(),
      ...lookUps,
    };
  };
}

/** How many seconds ago the API server was last heard about whatever pods are decided by; `undefined` before that. */
export function cacheAgeSeconds(caches: Caches, clock: Pick<Clock, 'monotonic'>): number | undefined {
  const { classes, namespaces, resourceQuotas, policies, priorityQuotas } = caches;
  const contacts = [classes, namespaces, resourceQuotas, policies, priorityQuotas].map((each) => each.lastContactMs());
  const known = contacts.filter((ms) => ms !== undefined);
  if (known.length < contacts.length) return undefined;
  return Math.round((clock.monotonic() - Math.min(...known)) / 1_000);
}

/** The caches that have not been filled yet, by name. */
export function unsyncedCaches(caches: Caches): readonly string[] {
  return Object.entries(caches).flatMap(([name, cache]: [string, Reflector<unknown>]) =>
    cache.isSynced() ? [] : [name],
  );
}

function assertSynced(caches: Caches): void {
  const missing = unsyncedCaches(caches);
  if (missing.length > 0) throw new Error(`Could not decide: not yet read: ${missing.join(', ')}`);
}

/** Something computed from all objects of a kind, and again only after a change. */
function derived<T, R>(reflector: Reflector<T>, compute: (all: readonly T[]) => R): () => R {
  let current: { readonly value: R } | undefined;
  reflector.onChange(() => (current = undefined));
  return () => (current ??= { value: compute([...reflector.values()]) }).value;
}

/** Order by name. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
