import type { AdmissionWorld } from '#shared/domain/admission/admission-world.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import type { PriorityClass } from '#shared/domain/priority/priority-class.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import { decodePriorityClass } from '#shared/kube/decode-priority-class.ts';
import { decodeResourceQuota } from '#shared/kube/decode-resource-quota.ts';
import type { Decoded } from '#shared/kube/decoded.ts';
import { listObjects } from '#shared/kube/objects.ts';
import { PRIORITY_CLASSES, RESOURCE_QUOTAS, type Resource } from '#shared/kube/resource.ts';
import type { WorldReader } from './world.ts';

/**
 * Reads classes and the namespace's quotas from the API server, because a cache may be a moment behind and nobody shall
 * be refused for that. Rejects when they cannot be read; callers who ask at the same time for the same share one read.
 */
export function createLiveWorldReader(
  client: KubeClient,
  world: WorldReader,
  timeoutMs: number,
): (request: PodRequest) => Promise<AdmissionWorld> {
  const read = sharedReads((namespace) => readLive(client, namespace, timeoutMs));
  return async ({ pod }) => {
    const { classes, quotas } = await read(pod.namespace);
    return { ...world(), classes, resourceQuotas: () => quotas };
  };
}

interface LiveObjects {
  readonly classes: ReadonlyMap<string, PriorityClass>;
  readonly quotas: readonly ResourceQuota[];
}

async function readLive(client: KubeClient, namespace: string, timeoutMs: number): Promise<LiveObjects> {
  const [classes, quotas] = await Promise.all([
    readAll(client, { resource: PRIORITY_CLASSES }, decodePriorityClass, timeoutMs),
    readAll(client, { resource: RESOURCE_QUOTAS, namespace }, decodeResourceQuota, timeoutMs),
  ]);
  return {
    classes: new Map(classes.map((each) => [each.name, each])),
    quotas: quotas.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

async function readAll<T>(
  client: KubeClient,
  collection: { readonly resource: Resource; readonly namespace?: string },
  decode: (raw: unknown) => Decoded<T>,
  timeoutMs: number,
): Promise<readonly T[]> {
  const outcome = await listObjects(client, collection, { timeoutMs });
  if (outcome.kind !== 'ok') throw new Error(`Could not list ${collection.resource.plural}: ${outcome.message}`);
  return outcome.object.items.flatMap((raw) => {
    const decoded = decode(raw);
    return decoded.ok ? [decoded.value] : [];
  });
}

/** One read at a time per key: who asks while it is under way gets its result. */
function sharedReads<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key) => {
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const started = read(key).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
}
