import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import { byName } from '#shared/domain/base/texts.ts';
import type { ResourceQuota } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeResourceQuota, decodeNamespace, decodeNode } from '#shared/kube/decode/decode-objects.ts';
import { RESOURCE_QUOTAS, PRIORITY_QUOTAS, NAMESPACES, NODE_PRESSURE_POLICIES, NODES } from '#shared/kube/resource.ts';
import { ERRORS } from '#webhook/messages.ts';
import { decodePriorityQuota } from '#shared/api/priority-quota.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import {
  PROTECTION_WITHOUT_POLICY,
  protectionByPolicy,
  readNamedPolicy,
  selectPolicy,
} from '#shared/api/node-pressure-policy/select-policy.ts';
import type { Protection } from '#shared/domain/eviction/protection.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { listReadable, readRules } from './caches.ts';
import type { StateReader } from './cached-state.ts';

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
const MAX_AT_ONCE = 16;

/** One read at a time per key: calls made while it is in progress share its result. */
function sharedReads<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key) => {
    const running = underWay.get(key);
    if (running !== undefined) return running;
    if (underWay.size >= MAX_AT_ONCE) return Promise.reject(new Error(ERRORS.tooManyReads(MAX_AT_ONCE)));
    const started = read(key).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  };
}

/**
 * Reads classes and our objects that name them, so that no request is refused because of a policy that was just
 * deleted.
 */
export function createLiveClassesReader(
  client: KubeClient,
  cluster: StateReader,
  timeoutMs: number,
): () => Promise<ClusterState> {
  return async () => {
    const [rules, priorityQuotas] = await Promise.all([
      readRules(client, timeoutMs),
      listReadable(client, { resource: PRIORITY_QUOTAS }, decodePriorityQuota, timeoutMs),
    ]);
    return { ...cluster(), ...rules, priorityQuotas: priorityQuotas.toSorted(byName) };
  };
}

/**
 * The labels of a namespace, read from the API server; `undefined` if the namespace does not exist. Rejects when it
 * cannot be read.
 */
export async function readNamespaceLabels(
  client: KubeClient,
  name: string,
  timeoutMs: number,
): Promise<ReadonlyMap<string, string> | undefined> {
  const found = await getObject(client, { resource: NAMESPACES, name }, { timeoutMs });
  if (found.kind === 'notFound') return undefined;
  const decoded = decodeNamespace(expectOk(found, `read namespace "${name}"`));
  if (!decoded.ok) throw new Error(ERRORS.readFields(`namespace "${name}"`, decoded.field, decoded.message));
  return decoded.value.labels;
}

/**
 * The protection rules that the policy of a node sets for our evictions, read from the API server: evictions are few,
 * and another cache could lag. A pod without a node is treated as on a node without labels. Rejects when anything
 * cannot be read, including a policy that may be the one for this node.
 */
export async function readNodeProtection(
  client: KubeClient,
  nodeName: string | undefined,
  timeoutMs: number,
): Promise<Protection> {
  const policies = await listReadable(client, { resource: NODE_PRESSURE_POLICIES }, asNamed, timeoutMs);
  const isLabelled = nodeName !== undefined && policies.length > 0;
  const selection = selectPolicy(policies, isLabelled ? await readNodeLabels(client, nodeName, timeoutMs) : NO_LABELS);
  if (selection.kind === 'none') return PROTECTION_WITHOUT_POLICY;
  if (selection.kind === 'selected') return protectionByPolicy(selection.policy.policy);
  const { name, field, message } = selection;
  throw new Error(ERRORS.readFields(`NodePressurePolicy "${name}"`, field, message));
}

function asNamed(raw: KubeObject) {
  return { ok: true, value: readNamedPolicy(raw) } as const;
}

async function readNodeLabels(
  client: KubeClient,
  name: string,
  timeoutMs: number,
): Promise<ReadonlyMap<string, string>> {
  const found = await getObject(client, { resource: NODES, name }, { timeoutMs });
  if (found.kind === 'notFound') return NO_LABELS;
  const decoded = decodeNode(expectOk(found, `read node "${name}"`));
  if (!decoded.ok) throw new Error(ERRORS.readFields(`node "${name}"`, decoded.field, decoded.message));
  return decoded.value.labels;
}
