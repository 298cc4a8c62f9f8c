import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { byName } from '#shared/domain/model/compare-texts.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { RESOURCE_QUOTAS } from '#shared/kube/resource.ts';
import { listReadable } from './list-readable.ts';
import { readNamespaceLabels } from './read-namespace-labels.ts';
import { readRules } from './read-rules.ts';
import type { StateReader } from './cached-state.ts';
import { ERRORS } from '#webhook/messages.ts';

/**
 * Reads classes, policies, PriorityQuotas and the namespace with its quotas from the API server, because a cache may lag and must not
 * cause a wrong decision. Rejects when they cannot be read or when too many reads are in progress; concurrent calls for
 * the same namespace share one read.
 */
export function createLiveStateReader(
  client: KubeClient,
  cluster: StateReader,
  timeoutMs: number,
): (request: PodRequest) => Promise<ClusterState> {
  const rules = sharedReads(() => readRules(client, timeoutMs));
  const read = sharedReads((namespace) => readNamespace(client, namespace, timeoutMs));
  return async ({ pod }) => {
    const [live, { quotas, labels }] = await Promise.all([rules(''), read(pod.namespace)]);
    const cached = cluster();
    return {
      ...cached,
      ...live,
      resourceQuotas: () => quotas,
      namespaceLabels: (name) => (name === pod.namespace ? labels : cached.namespaceLabels(name)),
    };
  };
}

interface LiveNamespace {
  readonly quotas: readonly ResourceQuota[];
  readonly labels: ReadonlyMap<string, string> | undefined;
}

async function readNamespace(client: KubeClient, namespace: string, timeoutMs: number): Promise<LiveNamespace> {
  const [quotas, labels] = await Promise.all([
    listReadable(client, { resource: RESOURCE_QUOTAS, namespace }, decodeResourceQuota, timeoutMs),
    readNamespaceLabels(client, namespace, timeoutMs),
  ]);
  return { quotas: quotas.toSorted(byName), labels };
}

/** More concurrent reads would only slow the API server down. */
const MOST_AT_ONCE = 16;

/** One read at a time per key: calls made while it is in progress share its result. */
function sharedReads<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key) => {
    const running = underWay.get(key);
    if (running !== undefined) return running;
    if (underWay.size >= MOST_AT_ONCE) return Promise.reject(new Error(ERRORS.tooManyReads(MOST_AT_ONCE)));
    const started = read(key).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
}
