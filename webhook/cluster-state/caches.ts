import type { ObservedQuota } from '#shared/domain/quota/replica/own-slice.ts';
import { type Amounts, NO_AMOUNTS, quantityMilliNumber } from '#shared/domain/quantity/quantity.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { PriorityPolicy, AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { ClientContext, KubeClient } from '#shared/kube/client/client.ts';
import {
  decodeAnnotatedClass,
  decodeNamespace,
  decodeResourceQuota,
  decodePriorityClass,
} from '#shared/kube/decode/decode-objects.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { decodePriorityQuota, readSlices } from '#shared/api/priority-quota.ts';
import {
  type Decoded,
  decodeObject,
  readAmounts,
  readInteger,
  readObject,
  readText,
  fieldOf,
} from '#shared/kube/decode/wire-object.ts';
import { readRevision, type KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, decodeWith, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { PROMPT_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import {
  NAMESPACES,
  PRIORITY_CLASSES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  RESOURCE_QUOTAS,
  type Resource,
} from '#shared/kube/resource.ts';
import { listObjects, type CollectionAddress } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { byName } from '#shared/domain/base/texts.ts';
import type { GaugeMetric, Metrics } from '#shared/runtime/metrics.ts';

/** A namespace and its resourceVersion; 0 if that is not a decimal number. */
export interface CachedNamespace extends Namespace {
  readonly revision: number;
}

/** A quota with the parts of its ledger that replicas read from the cache. */
export interface CachedQuota extends PriorityQuota, ObservedQuota {
  /** As far as it can be read; informational only, no decision uses it. */
  readonly used: Amounts;
}

/** Live copies of everything that admission decisions use. */
export interface Caches {
  readonly classes: Reflector<AnnotatedClass>;
  readonly namespaces: Reflector<CachedNamespace>;
  readonly resourceQuotas: Reflector<ResourceQuota>;
  readonly policies: Reflector<PriorityPolicy>;
  readonly priorityQuotas: Reflector<CachedQuota>;
}

/** Creates reflectors that have not started yet. */
export function createCaches(options: ClientContext): Caches {
  const reflect = <T>(resource: Resource, decode: (raw: unknown) => Decoded<T>): Reflector<T> =>
    createReflector({ ...options, resource, slim: decodeWith(decode), backoff: PROMPT_BACKOFF });
  return {
    classes: reflect(PRIORITY_CLASSES, decodeAnnotatedClass),
    namespaces: reflect(NAMESPACES, decodeCachedNamespace),
    resourceQuotas: reflect(RESOURCE_QUOTAS, decodeResourceQuota),
    policies: reflect(PRIORITY_POLICIES, decodePriorityPolicy),
    priorityQuotas: reflect(PRIORITY_QUOTAS, decodeCachedQuota),
  };
}

/** Every cache, to run and to wait for. */
export function eachCache(caches: Caches): readonly Reflector<unknown>[] {
  const all: readonly Reflector<unknown>[] = Object.values(caches);
  return all;
}

/** Reads a raw Namespace. */
export function decodeCachedNamespace(raw: unknown): Decoded<CachedNamespace> {
  const decoded = decodeNamespace(raw);
  if (!decoded.ok) return decoded;
  const version = fieldOf(fieldOf(raw, 'metadata'), 'resourceVersion');
  return { ok: true, value: { ...decoded.value, revision: readRevision(String(version)) ?? 0 } };
}

/** Reads a raw PriorityQuota. */
export function decodeCachedQuota(raw: unknown): Decoded<CachedQuota> {
  const decoded = decodePriorityQuota(raw);
  if (!decoded.ok) return decoded;
  return decodeObject(raw, (object) => ({
    ...decoded.value,
    uid: readObject(object, 'metadata', (metadata) => readText(metadata, 'uid')) ?? '',
    generation: readObject(object, 'metadata', (metadata) => readInteger(metadata, 'generation')) ?? 0,
    slices: readObject(object, 'status', readSlices) ?? new Map(),
    used: usedOf(raw),
  }));
}

function usedOf(raw: unknown): Amounts {
  const used = decodeObject(raw, (object) => readObject(object, 'status', (status) => readAmounts(status, 'used')));
  return (used.ok ? used.value : undefined) ?? NO_AMOUNTS;
}

/**
 * Lists all objects of a kind from the API server and skips those that cannot be decoded. Rejects when the list fails.
 */
export async function listReadable<T>(
  client: KubeClient,
  collection: CollectionAddress,
  decode: (raw: KubeObject) => Decoded<T>,
  timeoutMs: number,
): Promise<readonly T[]> {
  const outcome = await listObjects(client, collection, { timeoutMs });
  return expectOk(outcome, `list ${collection.resource.plural}`).items.flatMap((raw) => {
    const decoded = decode(raw);
    return decoded.ok ? [decoded.value] : [];
  });
}

export type Rules = Pick<ClusterState, 'classes' | 'policies' | 'priorityQuotas'>;

/** Classes, policies and quotas from the API server itself. Rejects when they cannot be read. */
export async function readRules(client: KubeClient, timeoutMs: number): Promise<Rules> {
  const [classes, policies, priorityQuotas] = await Promise.all([
    listReadable(client, { resource: PRIORITY_CLASSES }, decodePriorityClass, timeoutMs),
    listReadable(client, { resource: PRIORITY_POLICIES }, decodePriorityPolicy, timeoutMs),
    listReadable(client, { resource: PRIORITY_QUOTAS }, decodePriorityQuota, timeoutMs),
  ]);
  return {
    classes: new Map(classes.map((each) => [each.name, each])),
    policies: policies.toSorted(byName),
    priorityQuotas: priorityQuotas.toSorted(byName),
  };
}

const LABELS = ['quota', 'resource'];

/**
 * Exports the limits and the usage of each PriorityQuota in whole units (bytes, cores, pods), as last read from the API
 * server. Resources that have not been counted yet are not exported. Every replica exports the same values.
 */
export function exportQuotas(quotas: Pick<Reflector<CachedQuota>, 'onChange'>, metrics: Metrics): void {
  const show = {
    used: createShow(metrics.gauge('plimsoll_quota_used', 'Usage of a PriorityQuota, including reservations', LABELS)),
    hard: createShow(metrics.gauge('plimsoll_quota_hard', 'Limits of a PriorityQuota', LABELS)),
  };
  quotas.onChange(({ kind, key, value }) => {
    show.used(key, kind === 'deleted' ? NO_AMOUNTS : value.used);
    show.hard(key, kind === 'deleted' ? NO_AMOUNTS : value.hard);
  });
}

/** Sets the series of one quota and removes those of resources that it no longer names. */
function createShow(gauge: GaugeMetric): (quota: string, amounts: Amounts) => void {
  const shown = new Map<string, readonly string[]>();
  return (quota, amounts) => {
    for (const resource of shown.get(quota) ?? []) if (!amounts.has(resource)) gauge.remove({ quota, resource });
    for (const [resource, amount] of amounts) gauge.set(quantityMilliNumber(amount) / 1_000, { quota, resource });
    if (amounts.size === 0) shown.delete(quota);
    else shown.set(quota, [...amounts.keys()]);
  };
}
