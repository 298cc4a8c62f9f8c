import { hash } from 'node:crypto';
import { CONFIG_MIRROR } from '#shared/domain/eviction/protection.ts';
import type { Owner, Pod, PodSpec, PodStatus } from '#shared/domain/pod/pod.ts';
import { ANNOTATION_ALLOW_PREEMPTION, FOREIGN_ALLOW_PREEMPTION } from '#shared/kube/api-names.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { WireObject } from '#shared/kube/decode/wire-object.ts';
import { isRecord, type KubeObject } from '#shared/kube/kube-object.ts';
import { decodeWith } from '#shared/kube/reflector/decode-with.ts';
import { CompactPod, LastMade, type Placement, type PodTemplate } from './compact-pod.ts';

/** Annotations that decisions read; others often differ from pod to pod. */
const READ_ANNOTATIONS: readonly string[] = [ANNOTATION_ALLOW_PREEMPTION, FOREIGN_ALLOW_PREEMPTION, CONFIG_MIRROR];
/** Parts that are kept for pods to come; when there are more, the pool begins anew. */
const MOST_SHARED = 20_000;
const NO_FIELDS: WireObject = {};
const decode = decodeWith(decodePod);

/** Parts of pods that many have in common. */
interface Pools {
  readonly specs: Map<string, PodSpec>;
  readonly statuses: Map<string, PodStatus>;
  readonly labels: Map<string, Pod['labels']>;
  readonly names: Map<string, string>;
  readonly templates: Map<string, PodTemplate>;
  readonly lastMade: LastMade;
}

/**
 * How a scheduler process reads pods: only what decisions look at, and what is equal in several pods is kept once, since
 * the pods of one Deployment differ in little more than name and node. What is read throws where it cannot be.
 */
export function createPodReader(): (raw: KubeObject) => Pod {
  const pools: Pools = {
    specs: new Map(),
    statuses: new Map(),
    labels: new Map(),
    names: new Map(),
    templates: new Map(),
    lastMade: new LastMade(),
  };
  return (raw) => readPod(pools, raw);
}

function readPod(pools: Pools, raw: KubeObject): Pod {
  const { nodeName, ...spec } = fieldsOf(raw['spec']);
  const { startTime, nominatedNodeName, ...status } = fieldsOf(raw['status']);
  const own = decode({
    metadata: ownMetadata(raw.metadata),
    spec: { nodeName },
    status: { startTime, nominatedNodeName },
  });
  return new CompactPod(own, placementOf(pools, own), templateOf(pools, raw.metadata, { spec, status }));
}

function placementOf({ names }: Pools, { spec, status }: Pod): Placement {
  const { nodeName } = spec;
  return {
    nodeName: nodeName === undefined ? undefined : keptOnce(names, nodeName, () => nodeName),
    startTime: status.startTime,
    nominatedNodeName: status.nominatedNodeName,
  };
}

function templateOf(pools: Pools, metadata: WireObject, { spec, status }: WireObject): PodTemplate {
  const { namespace, labels, ownerReferences } = metadata;
  const keys = { labels: keyOf(labels), spec: keyOf(spec), status: keyOf(status) };
  return keptOnce(pools.templates, keyOf({ namespace, ownerReferences, ...keys }), () => {
    return {
      namespace: decode({ metadata: { namespace } }).namespace,
      labels: keptOnce(pools.labels, keys.labels, () => decode({ metadata: { labels } }).labels),
      owners: decode({ metadata: { ownerReferences } }).owners.map((owner) => slimOwner(pools, owner)),
      spec: keptOnce(pools.specs, keys.spec, () => decode({ spec }).spec),
      status: keptOnce(pools.statuses, keys.status, () => decode({ status }).status),
      lastMade: pools.lastMade,
    };
  });
}

/** The kinds of owners are few. */
function slimOwner({ names }: Pools, owner: Owner): Owner {
  const { apiVersion, kind } = owner;
  return {
    ...owner,
    apiVersion: keptOnce(names, apiVersion, () => apiVersion),
    kind: keptOnce(names, kind, () => kind),
  };
}

function ownMetadata(metadata: WireObject): WireObject {
  const { namespace, name, uid, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const annotations = readAnnotations(fieldsOf(metadata['annotations']));
  return { namespace, name, uid, deletionTimestamp, deletionGracePeriodSeconds, annotations };
}

function readAnnotations(annotations: WireObject): WireObject | undefined {
  const read = READ_ANNOTATIONS.filter((key) => annotations[key] !== undefined);
  return read.length === 0 ? undefined : Object.fromEntries(read.map((key) => [key, annotations[key]]));
}

function keyOf(part: unknown): string {
  return hash('md5', JSON.stringify(part ?? null), 'base64');
}

function keptOnce<T>(pool: Map<string, T>, key: string, make: () => T): T {
  const known = pool.get(key);
  if (known !== undefined) return known;
  if (pool.size >= MOST_SHARED) pool.clear();
  const made = make();
  pool.set(key, made);
  return made;
}

function fieldsOf(value: unknown): WireObject {
  return isRecord(value) ? value : NO_FIELDS;
}
