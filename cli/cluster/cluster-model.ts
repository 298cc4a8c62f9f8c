import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { readNamedPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import { withDefaultRequests } from '#shared/domain/pod/pod-requests.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { decodeAnnotatedClass, decodeBudget, decodeNamespace, decodeNode } from '#shared/kube/decode/decode-objects.ts';
import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  apiVersionOf,
  NAMESPACES,
  NODE_PRESSURE_POLICIES,
  NODE_PRESSURES,
  NODES,
  PDBS,
  PODS,
  PRIORITY_CLASSES,
  QUEUES,
  type Resource,
} from '#shared/kube/resource.ts';
import type { SimulatedCluster } from '#shared/decide/simulation/placement.ts';
import { InputError } from '#cli/process-io.ts';
import { nameOf, namespaceOf, typeOf, type Manifest } from '#cli/manifests/parse-manifests.ts';
import type { LedgerState } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import { decodeQueue, type QueueObject } from '#shared/api/queue.ts';
import { decodePriorityQuota, decodeLedger } from '#shared/api/priority-quota.ts';
import type { ClusterManifests } from './read-manifests.ts';

/** The kinds that commands about a cluster read. */
export const CLUSTER_RESOURCES: readonly Resource[] = [
  NODES,
  NAMESPACES,
  PRIORITY_CLASSES,
  PDBS,
  NODE_PRESSURE_POLICIES,
  NODE_PRESSURES,
  PODS,
];

/** A cluster as decisions see it. */
export interface ClusterModel extends SimulatedCluster {
  /** Empty if they were not read. */
  readonly queues: readonly QueueObject[];
  /** Pods as they were read, by `namespace/name`. */
  readonly podManifests: ReadonlyMap<string, Manifest>;
}

/** The classes that every API server makes for itself; a hand-written snapshot need not repeat them. */
const SYSTEM_CLASSES = { 'system-cluster-critical': 2_000_000_000, 'system-node-critical': 2_000_001_000 };

/** Decodes the kinds of a snapshot and skips others. Throws an InputError that names object and field. */
export function clusterModel({ manifests, namespace }: ClusterManifests): ClusterModel {
  const byType = Map.groupBy(manifests, typeOf);
  const all = <T>(resource: Resource, decode: (raw: unknown) => Decoded<T>): readonly T[] =>
    (byType.get(typeOfResource(resource)) ?? []).map((manifest) => decodeManifest(manifest, decode));
  const pods = (byType.get(typeOfResource(PODS)) ?? []).map((each) => withNamespace(each, namespace));
  return {
    nodes: all(NODES, decodeNode),
    pods: pods.map((manifest) => withUid(decodeManifest(manifest, decodePod))),
    budgets: all(PDBS, decodeBudget),
    namespaces: all(NAMESPACES, decodeNamespace),
    classes: new Map([...systemClasses(), ...byName(all(PRIORITY_CLASSES, decodeAnnotatedClass))]),
    policies: (byType.get(typeOfResource(NODE_PRESSURE_POLICIES)) ?? []).map(({ raw }) =>
      readNamedPolicy(raw as KubeObject),
    ),
    pressures: (byType.get(typeOfResource(NODE_PRESSURES)) ?? []).map(({ raw }) => decodeNodePressure(raw)),
    queues: all(QUEUES, decodeQueue),
    podManifests: new Map(pods.map((each) => [`${namespaceOf(each, namespace)}/${nameOf(each)}`, each])),
  };
}

/** The same with pods as the API server stores them: a hand-written file may name limits alone. */
export function storedModel(read: ClusterManifests): ClusterModel {
  const model = clusterModel(read);
  return { ...model, pods: model.pods.map(withDefaultRequests) };
}

/** `apiVersion` and `kind` of a resource, as `typeOf` writes them. */
function typeOfResource(resource: Resource): string {
  return typeOf({ apiVersion: apiVersionOf(resource), kind: resource.kind });
}

/** Decodes one object; throws an InputError that names object and field. */
export function decodeManifest<T>(manifest: Manifest, decode: (raw: unknown) => Decoded<T>): T {
  const decoded = decode(manifest.raw);
  if (decoded.ok) return decoded.value;
  const { where, kind } = manifest;
  throw new InputError(`${where}: ${kind} "${nameOf(manifest)}": ${decoded.field}: ${decoded.message}`);
}

/** A pod of a hand-written file is identified by its name. */
function withUid(pod: Pod): Pod {
  return pod.uid === '' ? { ...pod, uid: `${pod.namespace}/${pod.name}` } : pod;
}

/** The pod in its namespace, which a file may leave out. */
export function withNamespace(manifest: Manifest, fallback: string): Manifest {
  const { metadata } = manifest.raw;
  const named = { ...(metadata as object | undefined), namespace: namespaceOf(manifest, fallback) };
  return { ...manifest, raw: { ...manifest.raw, metadata: named } };
}

function byName(classes: readonly AnnotatedClass[]): readonly (readonly [string, AnnotatedClass])[] {
  return classes.map((each) => [each.name, each]);
}

function systemClasses(): readonly (readonly [string, AnnotatedClass])[] {
  const usual = { uid: '', isGlobalDefault: false, preemptionPolicy: 'PreemptLowerPriority', annotations: new Map() };
  return Object.entries(SYSTEM_CLASSES).map(([name, value]) => [name, { ...usual, name, value }]);
}

/** A PriorityQuota and what its existing pods cost. */
export type CountedQuota = PriorityQuota & Pick<LedgerState, 'used' | 'byNamespace'>;

/** Reads a PriorityQuota with its status. */
export function decodeCountedQuota(raw: unknown): Decoded<CountedQuota> {
  const quota = decodePriorityQuota(raw);
  const ledger = decodeLedger(raw);
  if (!quota.ok) return quota;
  if (!ledger.ok) return ledger;
  const { used, byNamespace } = ledger.value;
  return { ok: true, value: { ...quota.value, used, byNamespace } };
}
