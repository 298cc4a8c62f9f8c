import { hash } from 'node:crypto';
import { CONFIG_MIRROR } from '#shared/domain/eviction/protection.ts';
import type { Owner, Pod, PodSpec, PodStatus } from '#shared/domain/pod/pod.ts';
import { ANNOTATION_ALLOW_PREEMPTION, FOREIGN_ALLOW_PREEMPTION } from '#shared/kube/api-names.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { WireObject } from '#shared/kube/decode/wire-object.ts';
import { isRecord, type KubeObject } from '#shared/kube/kube-object.ts';
import { decodeWith } from '#shared/kube/reflector/decode-with.ts';
import { barePod } from './bare-pod.ts';
import { CompactPod, LastMade, type Placement, type PodTemplate } from './compact-pod.ts';
import { LargeParts, type PartKey } from './large-parts.ts';

/** Annotations that decisions read; others often differ from pod to pod. */
const READ_ANNOTATIONS: readonly string[] = [ANNOTATION_ALLOW_PREEMPTION, FOREIGN_ALLOW_PREEMPTION, CONFIG_MIRROR];
/** No value that a decision knows is longer; that there is one counts too. */
const LONGEST_ANNOTATION = 64;
/** Parts that are kept for pods to come; when there are more, the pool begins anew. */
const MOST_SHARED = 20_000;
/** The text of what is read of a pod is seldom longer. */
const ORDINARY_LENGTH = 4_096;
const NO_FIELDS: WireObject = {};
const decode = decodeWith(decodePod);
const NONE = decode({ metadata: {} });

/** Parts of pods that many have in common. */
interface Pools {
  readonly large: LargeParts<PodTemplate>;
  readonly specs: Map<string, PodSpec>;
  readonly statuses: Map<string, PodStatus>;
  readonly labels: Map<string, Pod['labels']>;
  readonly names: Map<string, string>;
  readonly templates: Map<string, PodTemplate>;
  readonly lastMade: LastMade;
}

/**
 * How a scheduler process reads pods: only what decisions look at, and what is equal in several pods is kept once, since
 * the pods of one Deployment differ in little more than name and node. Of an unusually large pod for which `large` has
 * no room, only the amounts, the priority and the owner are read. What is read throws where it cannot be.
 */
export function createPodReader(large = new LargeParts<PodTemplate>()): (raw: KubeObject) => Pod {
  const pools: Pools = {
    large,
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
  const texts = { labels: textOf(labels), spec: textOf(spec), status: textOf(status), owners: textOf(ownerReferences) };
  const keys = { labels: hashOf(texts.labels), spec: hashOf(texts.spec), status: hashOf(texts.status) };
  const key = hashOf(textOf({ namespace, owners: texts.owners, ...keys }));
  const length = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  if (length > ORDINARY_LENGTH) return largeTemplate(pools, { metadata, spec, status }, { key, length });
  pools.large.release(uidOf(metadata));
  return keptOnce(pools.templates, key, () => {
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

interface LargePod {
  readonly metadata: WireObject;
  readonly spec: unknown;
  readonly status: unknown;
}

function largeTemplate(
  { large, lastMade, templates }: Pools,
  { metadata, spec, status }: LargePod,
  part: Pick<PartKey, 'key' | 'length'>,
): PodTemplate {
  const { namespace, labels, ownerReferences } = metadata;
  const whole = (): Pod => decode({ metadata: { namespace, labels, ownerReferences }, spec, status });
  const partKey = { ...part, namespace: typeof namespace === 'string' ? namespace : '' };
  const known = large.take(uidOf(metadata), partKey, () => ({ ...templateParts(whole()), lastMade }));
  return (
    known ??
    keptOnce(templates, part.key, () => ({ ...barePod(whole(), NONE), namespace: partKey.namespace, lastMade }))
  );
}

function templateParts({ namespace, labels, owners, spec, status }: Pod): Omit<PodTemplate, 'lastMade'> {
  return { namespace, labels, owners, spec, status };
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
  return read.length === 0 ? undefined : Object.fromEntries(read.map((key) => [key, shortened(annotations[key])]));
}

function shortened(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= LONGEST_ANNOTATION) return value;
  // A part of a text keeps the whole of it in memory; a copy does not.
  return Buffer.from(value.slice(0, LONGEST_ANNOTATION)).toString();
}

function uidOf({ uid }: WireObject): string {
  return typeof uid === 'string' ? uid : '';
}

function textOf(part: unknown): string {
  return JSON.stringify(part ?? null);
}

function hashOf(text: string): string {
  return hash('md5', text, 'base64');
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
