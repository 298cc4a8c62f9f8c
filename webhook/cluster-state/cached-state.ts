import { type AvoidLookup, type ClusterState, NO_KNOWN_PODS } from '#shared/domain/admission/cluster-state.ts';
import { byName } from '#shared/domain/base/texts.ts';
import type { PriorityClass } from '#shared/domain/priority/classes-and-policies.ts';
import { derived, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { QUOTA_LABEL, QUOTA_NAMESPACES } from '#shared/kube/admission/judged-namespaces.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { ERRORS } from '#webhook/messages.ts';
import type { Caches } from './caches.ts';

/** Returns the cluster state from the caches; throws until all of them are synced. */
export type StateReader = () => ClusterState;

/** A reader whose indexes are rebuilt only after a change. */
export function createStateReader(caches: Caches, clock: Clock, avoidedBy?: AvoidLookup): StateReader {
  const classes = derived(
    [caches.classes],
    (): ReadonlyMap<string, PriorityClass> => new Map(Array.from(caches.classes.values(), (each) => [each.name, each])),
  );
  const policies = derived([caches.policies], () => [...caches.policies.values()].sort(byName));
  const priorityQuotas = derived([caches.priorityQuotas], () => [...caches.priorityQuotas.values()].sort(byName));
  const lookUps = {
    namespaceNames: derived([caches.namespaces], () =>
      Array.from(caches.namespaces.values(), ({ name }) => name).sort(),
    ),
    namespaceLabels: (namespace: string) => caches.namespaces.get(namespace)?.labels,
    resourceQuotas: byNamespace(caches.resourceQuotas),
    quotaNamespaces: QUOTA_NAMESPACES,
    quotaLabel: QUOTA_LABEL,
    knownPods: NO_KNOWN_PODS,
    avoidedBy,
  };
  let isFilled = false;
  return () => {
    if (!isFilled) assertSynced(caches);
    // A cache that has synced once stays synced.
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

/**
 * Seconds since the API server last sent anything about the objects that pod decisions use; `undefined` before the
 * first contact.
 */
export function cacheAgeSeconds(caches: Caches, clock: Pick<Clock, 'monotonic'>): number | undefined {
  const { classes, namespaces, resourceQuotas, policies, priorityQuotas } = caches;
  const contacts = [classes, namespaces, resourceQuotas, policies, priorityQuotas].map((each) => each.lastContactMs());
  const known = contacts.filter((ms) => ms !== undefined);
  if (known.length < contacts.length) return undefined;
  return Math.round((clock.monotonic() - Math.min(...known)) / 1_000);
}

/** The names of the caches that are not synced yet. */
export function unsyncedCaches(caches: Caches): readonly string[] {
  return Object.entries(caches).flatMap(([name, cache]: [string, Reflector<unknown>]) =>
    cache.isSynced() ? [] : [name],
  );
}

function assertSynced(caches: Caches): void {
  const missing = unsyncedCaches(caches);
  if (missing.length > 0) throw new Error(ERRORS.cachesNotSynced(missing));
}

interface Namespaced {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The objects of a namespace, sorted by name and updated change by change: an object that changes with every pod, such
 * as a ResourceQuota, costs its own namespace one sort and other namespaces nothing.
 */
export function byNamespace<T extends Namespaced>(reflector: Reflector<T>): (namespace: string) => readonly T[] {
  const groups = new Map<string, Map<string, T>>();
  const sorted = new Map<string, readonly T[]>();

  reflector.onChange(({ kind, value }) => {
    const { namespace, name } = value;
    const group = groups.get(namespace) ?? new Map<string, T>();
    sorted.delete(namespace);
    if (kind === 'deleted') group.delete(name);
    else group.set(name, value);
    if (group.size === 0) groups.delete(namespace);
    else groups.set(namespace, group);
  });

  return (namespace) => {
    const group = groups.get(namespace);
    if (group === undefined) return [];
    const known = sorted.get(namespace) ?? [...group.values()].sort(byName);
    sorted.set(namespace, known);
    return known;
  };
}
