import {
  ANNOTATION_ADMITTED,
  ANNOTATION_SNAPSHOT_TIME,
  ANNOTATION_SNAPSHOT_UNREAD,
  API_GROUP,
  COMPONENT_NAMES,
  EXEMPT_NAMESPACES,
  GANG_AUTO,
  LABEL_APPLICATION,
  LABEL_GANG,
  LABEL_QUEUE,
} from '#shared/kube/api-names.ts';
import { decodeAdmitted, encodeAdmitted } from '#shared/api/admitted.ts';
import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import { type Manifest, nameOf, ofKind } from '#cli/manifests/parse-manifests.ts';
import { CAUSES } from '#shared/domain/disruption/disruption.ts';
import { keyOfLimit } from '#shared/domain/disruption/disruption-limit.ts';
import { isLabelValue } from '#shared/domain/labels/label-selector.ts';
import { fieldOf, isRecord } from '#shared/kube/decode/wire-object.ts';
import {
  CONFIG_MAPS,
  DISRUPTION_LIMITS,
  DISRUPTIONS,
  NAMESPACES,
  NODES,
  PDBS,
  PODS,
  QUEUES,
  RESOURCE_QUOTAS,
} from '#shared/kube/resource.ts';
import { keepFields } from './kept-fields.ts';
import type { Pseudonym, Sort } from './pseudonyms.ts';

/** A `v1` List of objects, reduced to the fields that decisions read. */
export interface Snapshot {
  readonly apiVersion: 'v1';
  readonly kind: 'List';
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** The objects read from a cluster, and when (RFC 3339). */
export interface ReadCluster {
  readonly manifests: readonly Manifest[];
  readonly takenAt: string;
  /** Kinds that could not be listed. */
  readonly unread?: readonly string[];
}

/** Makes a snapshot of a cluster; with pseudonyms it is redacted. */
export function makeSnapshot({ manifests, takenAt, unread = [] }: ReadCluster, pseudonym?: Pseudonym): Snapshot {
  const kept = manifests.map((manifest) => ({ ...manifest, raw: keepFields(manifest.kind, manifest.raw) }));
  const shown = pseudonym === undefined ? kept : redact(kept, pseudonym);
  return {
    apiVersion: 'v1',
    kind: 'List',
    metadata: {
      annotations: {
        [ANNOTATION_SNAPSHOT_TIME]: takenAt,
        ...(unread.length > 0 && { [ANNOTATION_SNAPSHOT_UNREAD]: unread.join(',') }),
      },
    },
    items: shown.map(({ apiVersion, kind, raw }) => ({ apiVersion, kind, ...raw })),
  };
}

/** JSON with one object per line, so that two snapshots can be compared line by line. */
export function snapshotJson({ items, ...list }: Snapshot): string {
  const head = JSON.stringify(list).slice(0, -1);
  return `${head},"items":[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]}\n`;
}

/** Every cluster has them, and decisions treat them specially. */
const KEPT_NAMESPACES: ReadonlySet<string> = new Set([...EXEMPT_NAMESPACES, 'default']);
const NAMESPACE_NAME_LABEL = 'kubernetes.io/metadata.name';

/** What redaction collects from all objects before it changes them. */
interface Context {
  readonly pseudonym: Pseudonym;
  readonly nodeNames: ReadonlySet<string>;
  /** Keys of labels that a selector compares as numbers. */
  readonly comparedKeys: ReadonlySet<string>;
}

/**
 * Objects with the names of namespaces, pods, containers, owners and budgets and the values of labels replaced, and
 * sentences left out. Decisions do not change: equal names stay equal, and values that decisions compare as numbers or
 * know by name are kept.
 */
function redact(manifests: readonly Manifest[], pseudonym: Pseudonym): readonly Manifest[] {
  const nodes = ofKind(manifests, NODES);
  const comparedKeys = new Set(manifests.flatMap(({ raw }) => comparedKeysIn(raw)));
  const context = { pseudonym, nodeNames: new Set(nodes.map(nameOf)), comparedKeys };
  return manifests.map((manifest) => ({ ...manifest, raw: redactObject(manifest, context) }));
}

const NAME_BY_KIND: Readonly<Record<string, RedactionRule>> = {
  [PODS.kind]: nameFor('pod'),
  [NAMESPACES.kind]: nameFor('ns'),
  [PDBS.kind]: nameFor('pdb'),
  [DISRUPTION_LIMITS.kind]: nameFor('limit'),
  [DISRUPTIONS.kind]: recordName,
  [QUEUES.kind]: queueName,
  [RESOURCE_QUOTAS.kind]: nameFor('quota'),
  [CONFIG_MAPS.kind]: nameFor('configmap'),
};

function redactObject({ kind, raw }: Manifest, context: Context): Manifest['raw'] {
  const redacted = redactRecord(raw, context);
  const { metadata } = redacted;
  const rule = NAME_BY_KIND[kind];
  if (rule === undefined || !isRecord(metadata)) return redacted;
  return { ...redacted, metadata: { ...metadata, name: rule(metadata['name'], context) } };
}

function redactValue(value: unknown, context: Context): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => redactValue(item, context));
  return isRecord(value) ? redactRecord(value, context) : value;
}

function redactRecord(record: Readonly<Record<string, unknown>>, context: Context): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(record).map(([field, value]) => {
      const rule = Object.hasOwn(RULES, field) ? RULES[field] : undefined;
      return [field, (rule ?? redactValue)(value, context)];
    }),
  );
}

type RedactionRule = (value: unknown, context: Context) => unknown;

const leftOut: RedactionRule = () => '';
const keptFacts: ReadonlySet<string> = new Set(['signal', 'usage', 'request', 'decidedBy', 'resource']);

/** By the name of a field, at any depth. */
const RULES: Readonly<Record<string, RedactionRule>> = {
  annotations,
  labels: labelValues,
  matchLabels: labelValues,
  nodeSelector: (value, context) => (isSelector(value) ? redactValue(value, context) : labelValues(value, context)),
  matchExpressions: eachItem(expression),
  scopeSelector: (value) => value,
  subjects: eachItem(namedItem('user')),
  namespace: nameFor('ns'),
  namespaces: eachItem(nameFor('ns')),
  tolerations: eachItem(inField('value', (value, context) => labelValue('', value, context))),
  taints: eachItem(inField('value', (value, context) => labelValue('', value, context))),
  containers: eachItem(namedItem('container')),
  initContainers: eachItem(namedItem('container')),
  containerStatuses: eachItem(namedItem('container')),
  initContainerStatuses: eachItem(namedItem('container')),
  volumes: eachItem(namedItem('volume')),
  ownerReferences: eachItem(ownerReference),
  owner: party,
  preemptor: party,
  victim: party,
  disruptedPods: (value, context) => renameKeys(value, (name) => context.pseudonym('pod', name)),
  parent: queueName,
  pod: podName,
  message: leftOut,
  text: leftOut,
  cause: (value) => (isCause(value) ? value : ''),
  requestedBy: requester,
  caller: requester,
  overran: limitKey,
  rules: eachItem(limitKey),
  facts: (value) => filterFacts(value),
};

/** A word of the API; other objects have a sentence in this field. */
function isCause(value: unknown): boolean {
  return CAUSES.some((cause) => cause === value);
}

const COMPONENTS: ReadonlySet<unknown> = new Set([...Object.values(COMPONENT_NAMES), 'kubelet']);

/** The key of a DisruptionLimit has its name, that of an owner its UID; other `rules` are objects. */
function limitKey(value: unknown, context: Context): unknown {
  const [, name = ''] = typeof value === 'string' ? value.split('/', 2) : [];
  return value === keyOfLimit(name) ? keyOfLimit(context.pseudonym('limit', name)) : redactValue(value, context);
}

/** A component or, later, a user. */
function requester(value: unknown, context: Context): unknown {
  return COMPONENTS.has(value) ? value : nameFor('user')(value, context);
}

function isSelector(value: unknown): boolean {
  return fieldOf(value, 'matchLabels') !== undefined || fieldOf(value, 'matchExpressions') !== undefined;
}

function eachItem(rule: RedactionRule): RedactionRule {
  return (value, context) => (Array.isArray(value) ? value.map((item: unknown) => rule(item, context)) : value);
}

function inField(field: string, rule: RedactionRule): RedactionRule {
  return (value, context) =>
    isRecord(value) && field in value ? { ...value, [field]: rule(value[field], context) } : value;
}

function nameFor(sort: Sort): RedactionRule {
  return (value, { pseudonym }) => {
    if (typeof value !== 'string' || (sort === 'ns' && KEPT_NAMESPACES.has(value))) return value;
    return pseudonym(sort, value);
  };
}

function namedItem(sort: Sort): RedactionRule {
  return (value, context) => inField('name', nameFor(sort))(redactValue(value, context), context);
}

/** An owner, or a pod without one. */
function party(value: unknown, context: Context): unknown {
  if (!isRecord(value)) return value;
  return namedItem(fieldOf(value, 'kind') === PODS.kind ? 'pod' : 'owner')(value, context);
}

/** The owner of a mirror pod is its node. */
function ownerReference(value: unknown, context: Context): unknown {
  return fieldOf(value, 'kind') === NODES.kind ? value : inField('name', nameFor('owner'))(value, context);
}

/** `namespace/name`, or a name alone. */
function podName(value: unknown, context: Context): unknown {
  if (typeof value !== 'string') return value;
  const [first = '', name] = value.split('/', 2);
  if (name === undefined) return nameFor('pod')(first, context);
  return `${String(nameFor('ns')(first, context))}/${context.pseudonym('pod', name)}`;
}

/** The name of a queue created from a template contains that of its parent and of a namespace. */
function queueName(value: unknown, context: Context): unknown {
  if (typeof value !== 'string' || value === ROOT_QUEUE) return value;
  const dot = value.lastIndexOf('.');
  if (dot < 0) return context.pseudonym('queue', value);
  return `${String(queueName(value.slice(0, dot), context))}.${String(nameFor('ns')(value.slice(dot + 1), context))}`;
}

/** The application of an admitted pod comes from its label or is the UID of its owner. */
function annotations(value: unknown, context: Context): unknown {
  const text = fieldOf(value, ANNOTATION_ADMITTED);
  if (!isRecord(value) || typeof text !== 'string') return value;
  const admitted = decodeAdmitted(text);
  if (admitted === undefined) return { ...value, [ANNOTATION_ADMITTED]: '' };
  const [namespace = '', label] = admitted.application.split('/', 2);
  const named = (name: string): string => context.pseudonym('value', name);
  const owner = `${String(nameFor('ns')(namespace, context))}/${named(label ?? '')}`;
  const application = label === undefined ? admitted.application : owner;
  const gang = admitted.gang && { gang: { ...admitted.gang, name: named(admitted.gang.name) } };
  const mark = { ...admitted, ...gang, application, queue: String(queueName(admitted.queue, context)) };
  return { ...value, [ANNOTATION_ADMITTED]: encodeAdmitted(mark) };
}

function labelValues(labels: unknown, context: Context): unknown {
  if (!isRecord(labels)) return labels;
  return Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, labelValue(key, value, context)]));
}

function labelValue(key: string, value: unknown, context: Context): unknown {
  if (typeof value !== 'string' || isKeptLabel(key, value, context)) return value;
  if (key === NAMESPACE_NAME_LABEL) return nameFor('ns')(value, context);
  if (key === LABEL_QUEUE) return queueName(value, context);
  // A text that is not a valid label value matches no label; its pseudonym must not match one either.
  return `${isLabelValue(value) ? '' : '!'}${context.pseudonym('value', value)}`;
}

function isKeptLabel(key: string, value: string, { nodeNames, comparedKeys }: Context): boolean {
  const isName = [LABEL_QUEUE, LABEL_APPLICATION].includes(key) || (key === LABEL_GANG && value !== GANG_AUTO);
  return (key.startsWith(`${API_GROUP}/`) && !isName) || comparedKeys.has(key) || nodeNames.has(value);
}

function expression(value: unknown, context: Context): unknown {
  const rule: RedactionRule = (each) => labelValue(String(fieldOf(value, 'key')), each, context);
  return inField('values', eachItem(rule))(value, context);
}

/** `POD.UID`: the name of a Disruption begins with that of its pod. */
function recordName(value: unknown, context: Context): unknown {
  if (typeof value !== 'string') return value;
  const [, pod = value, uid = ''] = /^(.*)(\.[0-9a-f]+)$/.exec(value) ?? [];
  return `${context.pseudonym('pod', pod)}${uid}`;
}

function renameKeys(value: unknown, rename: (key: string) => string): unknown {
  return isRecord(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [rename(key), each])) : value;
}

function filterFacts(facts: unknown): unknown {
  if (!isRecord(facts)) return {};
  const kept = Object.entries(facts).filter(([key, value]) => typeof value !== 'string' || keptFacts.has(key));
  return Object.fromEntries(kept);
}

function comparedKeysIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(comparedKeysIn);
  if (!isRecord(value)) return [];
  const { key, operator } = value;
  const isComparison = typeof key === 'string' && (operator === 'Gt' || operator === 'Lt');
  return isComparison ? [key] : Object.values(value).flatMap(comparedKeysIn);
}
