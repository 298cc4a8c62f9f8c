import { hash } from 'node:crypto';
import { CONFIG_MIRROR } from '#shared/domain/eviction/protection.ts';
import { isLocalVolume, type Owner, type Pod, type PodSpec, type PodStatus } from '#shared/domain/pod/pod.ts';
import { isUnmodelledVolume } from '#shared/domain/placement/trial/prefilter-state.ts';
import {
  ANNOTATION_ALLOW_PREEMPTION,
  ANNOTATION_CLASS_RULE,
  FOREIGN_ALLOW_PREEMPTION,
} from '#shared/kube/api-names.ts';
import { GANG_KEYS } from '#shared/kube/annotations/gangs.ts';
import { WISH_ANNOTATIONS } from '#shared/kube/annotations/wishes.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type WireObject, isRecord } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import { BASIC_RESOURCES } from '#shared/domain/quantity/resource-columns.ts';
import { CompactPod, LastMade, type Placement, type PodTemplate, TemplatePool } from './compact-pod.ts';

/** Annotations that decisions read; others often differ from pod to pod. */
const READ_ANNOTATIONS: readonly string[] = [
  ANNOTATION_ALLOW_PREEMPTION,
  FOREIGN_ALLOW_PREEMPTION,
  ...WISH_ANNOTATIONS,
  ...GANG_KEYS,
  CONFIG_MIRROR,
];
/** The longest value that decisions know. A longer one is cut, because its presence counts too. */
const MAX_ANNOTATION_LENGTH = 64;
/** The names of a policy and of a rule together. */
const MAX_RULE_LENGTH = 317;
/** Shared parts kept per pool. A full pool is emptied and starts again. */
const MAX_SHARED = 2_000;
/** Longer texts are rarely equal in pods of different owners. */
const MAX_SHARED_LENGTH = 1_024;
const NO_FIELDS: WireObject = {};
const decode = decodeWith(decodePod);
const NOTHING = decode({ metadata: {} });

/** Parts that many pods have in common. */
interface Pools {
  readonly templates: TemplatePool;
  readonly specs: Map<string, PodSpec>;
  readonly statuses: Map<string, PodStatus>;
  readonly names: Map<string, string>;
  readonly records: Map<string, Pod['annotations']>;
  readonly lastMade: LastMade;
}

/**
 * Reads pods for a scheduler process. It keeps only the fields that decisions read, and keeps values that several pods
 * share only once: the pods of one Deployment differ in little more than name and node. If there is no room for the
 * template of an unusually large pod, only its amounts, priority and owner are kept. The caller releases the template
 * when the pod is gone. Throws if the pod cannot be decoded.
 */
export function createPodReader(templates = new TemplatePool()): (raw: KubeObject) => CompactPod {
  const pools: Pools = {
    templates,
    specs: new Map(),
    statuses: new Map(),
    names: new Map(),
    records: new Map(),
    lastMade: new LastMade(),
  };
  return (raw) => readPod(pools, raw);
}

function readPod(pools: Pools, raw: KubeObject): CompactPod {
  const { nodeName, volumes, resourceClaims, ...others } = fieldsOf(raw['spec']);
  const { startTime, nominatedNodeName, ...status } = fieldsOf(raw['status']);
  const own = decode({
    metadata: ownMetadata(raw.metadata),
    spec: { nodeName, volumes, resourceClaims },
    status: { startTime, nominatedNodeName },
  });
  // The gates are removed later, and the pod would then need another template.
  const spec = { ...others, ...boundStorage(own.spec), schedulingGates: undefined };
  return new CompactPod(own, placementOf(pools, own), templateOf(pools, { metadata: raw.metadata, spec, status }));
}

/**
 * What binds a pod to its node, or to places that are not modelled: the first volume of each kind and the first claim,
 * which are enough to say so. The volume with the pod's token has another name in each pod.
 */
function boundStorage({ volumes, resourceClaims }: PodSpec): WireObject {
  const bound = [volumes.find(isLocalVolume), volumes.find(isUnmodelledVolume)];
  return {
    volumes: bound.flatMap((volume) => (volume === undefined ? [] : [{ name: volume.name, [volume.source]: {} }])),
    resourceClaims: resourceClaims.slice(0, 1).map((name) => ({ name })),
  };
}

function placementOf({ names }: Pools, { spec, status }: Pod): Placement {
  const { nodeName } = spec;
  return {
    nodeName: nodeName === undefined ? undefined : fromPool(names, nodeName, () => nodeName),
    startTime: status.startTime,
    nominatedNodeName: status.nominatedNodeName,
  };
}

interface PodSections {
  readonly metadata: WireObject;
  readonly spec: WireObject;
  readonly status: WireObject;
}

function templateOf(pools: Pools, { metadata, spec, status }: PodSections): PodTemplate {
  const { namespace, labels, ownerReferences } = metadata;
  const annotations = recordAmong(metadata);
  const texts = { spec: textOf(spec), status: textOf(status) };
  const shared = { namespace, labels, annotations, ownerReferences };
  const text = textOf({ ...shared, ...texts });
  const parts = { metadata: shared, spec, status };
  const key = { key: hashOf(text), namespace: String(namespace), length: text.length };
  const whole = (own: string): PodTemplate => wholeTemplate(pools, own, parts, texts);
  return pools.templates.take(key, whole, (own) => bareTemplate(pools, own, parts));
}

function wholeTemplate(
  pools: Pools,
  key: string,
  { metadata, spec, status }: PodSections,
  texts: { readonly spec: string; readonly status: string },
): PodTemplate {
  const { namespace, labels, annotations, owners } = decode({ metadata });
  return {
    key,
    namespace,
    labels,
    annotations: fromPool(pools.records, annotations.get(ANNOTATION_CLASS_RULE) ?? '', () => annotations),
    owners: owners.map((owner) => slimOwner(pools, owner)),
    spec: keptIfShort(pools.specs, texts.spec, () => decode({ spec }).spec),
    status: keptIfShort(pools.statuses, texts.status, () => decode({ status }).status),
    lastMade: pools.lastMade,
  };
}

function bareTemplate({ lastMade }: Pools, key: string, parts: PodSections): PodTemplate {
  return { ...barePod(decode(parts), NOTHING), key, lastMade };
}

/** There are few kinds of owners. */
function slimOwner({ names }: Pools, owner: Owner): Owner {
  const { apiVersion, kind } = owner;
  return {
    ...owner,
    apiVersion: fromPool(names, apiVersion, () => apiVersion),
    kind: fromPool(names, kind, () => kind),
  };
}

function ownMetadata(metadata: WireObject): WireObject {
  const { namespace, name, uid, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const own = annotationsAmong(metadata);
  const annotations = own && { ...own, ...recordAmong(metadata) };
  return { namespace, name, uid, deletionTimestamp, deletionGracePeriodSeconds, annotations };
}

/** All pods of an owner usually get their class from the same rule. */
function recordAmong({ annotations }: WireObject): WireObject | undefined {
  const record = fieldsOf(annotations)[ANNOTATION_CLASS_RULE];
  return record === undefined ? undefined : { [ANNOTATION_CLASS_RULE]: shortened(record, MAX_RULE_LENGTH) };
}

function annotationsAmong(metadata: WireObject): WireObject | undefined {
  const annotations = fieldsOf(metadata['annotations']);
  const read = READ_ANNOTATIONS.filter((key) => annotations[key] !== undefined);
  return read.length === 0 ? undefined : Object.fromEntries(read.map((key) => [key, shortened(annotations[key])]));
}

function shortened(value: unknown, longest = MAX_ANNOTATION_LENGTH): unknown {
  if (typeof value !== 'string' || value.length <= longest) return value;
  // V8 keeps the whole text alive for a slice of it, but not for a copy.
  return Buffer.from(value.slice(0, longest)).toString();
}

function textOf(part: unknown): string {
  return JSON.stringify(part ?? null);
}

function hashOf(text: string): string {
  return hash('md5', text, 'base64');
}

function keptIfShort<T>(pool: Map<string, T>, text: string, make: () => T): T {
  return text.length > MAX_SHARED_LENGTH ? make() : fromPool(pool, hashOf(text), make);
}

/** The value of a key, made the first time. */
function fromPool<T>(pool: Map<string, T>, key: string, make: () => T): T {
  const known = pool.get(key);
  if (known !== undefined) return known;
  if (pool.size >= MAX_SHARED) pool.clear();
  const made = make();
  pool.set(key, made);
  return made;
}

function fieldsOf(value: unknown): WireObject {
  return isRecord(value) ? value : NO_FIELDS;
}

const MAX_OTHER_RESOURCES = 16;

/** A pod without labels, affinity and ports. Its amounts, priority, owners and what binds it remain. */
function barePod(pod: Pod, nothing: Pod): Omit<PodTemplate, 'key' | 'lastMade'> {
  const { priority, priorityClassName, preemptionPolicy, terminationGracePeriodSeconds } = pod.spec;
  const { volumes, resourceClaims, restartPolicy } = pod.spec;
  const precedence = { priority, priorityClassName, preemptionPolicy };
  const { phase, qosClass } = pod.status;
  const resources = { requests: fewAmounts(podRequests(pod, SCHEDULER_VIEW)), limits: undefined };
  const containers = [{ name: '', resources, restartPolicy: undefined, ports: [] }];
  return {
    namespace: pod.namespace,
    owners: pod.owners.filter(({ isController }) => isController),
    labels: nothing.labels,
    annotations: pod.annotations,
    spec: {
      ...nothing.spec,
      ...precedence,
      terminationGracePeriodSeconds,
      volumes,
      resourceClaims,
      restartPolicy,
      containers,
    },
    status: { ...nothing.status, phase, qosClass },
  };
}

/** The resources that every node has, and a few others. */
function fewAmounts(amounts: Amounts): Amounts {
  const entries = Array.from(amounts);
  const isBasic = (name: string): boolean => BASIC_RESOURCES.includes(name);
  const others = entries.filter(([name]) => !isBasic(name)).slice(0, MAX_OTHER_RESOURCES);
  return new Map([...entries.filter(([name]) => isBasic(name)), ...others]);
}
