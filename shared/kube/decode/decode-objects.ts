import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import type { Node, Taint } from '#shared/domain/snapshot/node-entry.ts';
import {
  PREEMPT_LOWER_PRIORITY,
  type PriorityClass,
  type AnnotatedClass,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { LimitedResource, ResourceQuota, ScopeTerm } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import type { WrittenBudget } from '#shared/domain/disruption/disruption-limit.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import {
  type Decoded,
  decodeObject,
  readAmounts,
  readBoolean,
  readIdentity,
  readInstant,
  readInt32,
  readInteger,
  readList,
  readObject,
  readPart,
  readPointerText,
  readText,
  readTextMap,
  readTexts,
  type WireObject,
  readClippedText,
} from './wire-object.ts';
import type { LabelSelector, Requirement } from '#shared/domain/labels/label-selector.ts';

/** Reads the wire form of a `v1` Namespace. */
export function decodeNamespace(raw: unknown): Decoded<Namespace> {
  return decodeObject(raw, (namespace) => readPart(namespace, 'metadata', namespaceOf));
}

function namespaceOf(metadata: WireObject): Namespace {
  return { name: readText(metadata, 'name') ?? '', labels: readTextMap(metadata, 'labels') };
}

/** Decodes the wire form of a `v1` Node. Unknown fields are ignored, absent ones are empty. */
export function decodeNode(raw: unknown): Decoded<Node> {
  return decodeObject(raw, (node) => ({
    ...readPart(node, 'metadata', readNodeMetadata),
    ...readPart(node, 'spec', readSpec),
    ...(readObject(node, 'status', readNodeStatus) ?? { allocatable: NO_AMOUNTS }),
  }));
}

function readNodeMetadata(metadata: WireObject): Pick<Node, 'name' | 'uid' | 'createdAt' | 'labels'> {
  const createdAt = readInstant(metadata, 'creationTimestamp');
  return {
    ...(createdAt !== undefined && { createdAt }),
    name: readText(metadata, 'name') ?? '',
    uid: readText(metadata, 'uid') ?? '',
    labels: readTextMap(metadata, 'labels'),
  };
}

function readSpec(spec: WireObject): Pick<Node, 'taints' | 'isUnschedulable' | 'unreadySince'> {
  const [since] = readList(spec, 'taints', (taint) =>
    UNREADY_TAINTS.includes(readText(taint, 'key') ?? '') ? readInstant(taint, 'timeAdded') : undefined,
  ).filter((each) => each !== undefined);
  return {
    taints: readList(spec, 'taints', readTaint),
    isUnschedulable: readBoolean(spec, 'unschedulable'),
    ...(since !== undefined && { unreadySince: since }),
  };
}

/** A node that is not ready says since when in its condition, and where that is missing, in these. */
const UNREADY_TAINTS: readonly string[] = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

function readNodeStatus(status: WireObject): Pick<Node, 'allocatable' | 'isUnready' | 'unreadySince'> {
  const unready = readList(status, 'conditions', (each) =>
    readText(each, 'type') === 'Ready' && readText(each, 'status') !== 'True' ? each : undefined,
  ).find((each) => each !== undefined);
  const allocatable = readAmounts(status, 'allocatable') ?? NO_AMOUNTS;
  if (unready === undefined) return { allocatable };
  const unreadySince = readInstant(unready, 'lastTransitionTime');
  return { allocatable, isUnready: true, ...(unreadySince !== undefined && { unreadySince }) };
}

function readTaint(taint: WireObject): Taint {
  return {
    key: readText(taint, 'key') ?? '',
    value: readText(taint, 'value') ?? '',
    effect: readText(taint, 'effect') ?? '',
  };
}

/** As `decodePriorityClass`, plus the annotations. */
export function decodeAnnotatedClass(raw: unknown): Decoded<AnnotatedClass> {
  const decoded = decodePriorityClass(raw);
  if (!decoded.ok) return decoded;
  return decodeObject(raw, (object) => ({
    ...decoded.value,
    annotations: readObject(object, 'metadata', (metadata) => readTextMap(metadata, 'annotations')) ?? new Map(),
  }));
}

/** Reads the wire form of a `scheduling.k8s.io/v1` PriorityClass; an absent policy is the API's default (oddity C4). */
export function decodePriorityClass(raw: unknown): Decoded<PriorityClass> {
  return decodeObject(raw, (object) => ({
    ...readPart(object, 'metadata', readClassIdentity),
    value: readInt32(object, 'value') ?? 0,
    isGlobalDefault: readBoolean(object, 'globalDefault'),
    preemptionPolicy: readPointerText(object, 'preemptionPolicy') ?? PREEMPT_LOWER_PRIORITY,
  }));
}

function readClassIdentity(metadata: WireObject) {
  return { name: readText(metadata, 'name') ?? '', uid: readText(metadata, 'uid') ?? '' };
}

/** Reads the wire form of a `v1` ResourceQuota. */
export function decodeResourceQuota(raw: unknown): Decoded<ResourceQuota> {
  return decodeObject(raw, (object) => ({
    ...readPart(object, 'metadata', readIdentity),
    scopes: readObject(object, 'spec', readScopes) ?? [],
    ...readPart(object, 'status', readQuotaStatus),
  }));
}

/** Reads one entry of `limitedResources` of an `apiserver.config.k8s.io/v1` ResourceQuotaConfiguration. */
export function decodeLimitedResource(raw: unknown): Decoded<LimitedResource> {
  return decodeObject(raw, (entry) => ({
    apiGroup: readText(entry, 'apiGroup') ?? '',
    resource: readText(entry, 'resource') ?? '',
    matchContains: readTexts(entry, 'matchContains'),
    matchScopes: readList(entry, 'matchScopes', readTerm),
  }));
}

function readQuotaStatus(status: WireObject) {
  return { hard: readAmounts(status, 'hard') ?? NO_AMOUNTS, used: readAmounts(status, 'used') ?? NO_AMOUNTS };
}

function readScopes(spec: WireObject): readonly ScopeTerm[] {
  const plain = readTexts(spec, 'scopes').map((scopeName) => ({ scopeName, operator: 'Exists', values: [] }));
  const terms = readObject(spec, 'scopeSelector', (selector) => readList(selector, 'matchExpressions', readTerm));
  return [...plain, ...(terms ?? [])];
}

function readTerm(term: WireObject): ScopeTerm {
  return {
    scopeName: readText(term, 'scopeName') ?? '',
    operator: readText(term, 'operator') ?? '',
    values: readTexts(term, 'values'),
  };
}

/** Decodes the wire form of a `policy/v1` PodDisruptionBudget. A budget without status allows no disruption. */
export function decodeBudget(raw: unknown): Decoded<DisruptionBudget> {
  return decodeObject(raw, (budget) => ({
    ...readPart(budget, 'metadata', readIdentity),
    selector: readObject(budget, 'spec', (spec) => readSelector(spec, 'selector')),
    ...readPart(budget, 'status', readBudgetStatus),
    ...unreadyRule(budget),
    ...(isStale(budget) && { isStale: true }),
  }));
}

/** The spec of a `policy/v1` PodDisruptionBudget, and the latest findings of its controller. */
export function decodeWrittenBudget(
  raw: unknown,
): Decoded<WrittenBudget & { readonly namespace: string; readonly name: string }> {
  return decodeObject(raw, (budget) => ({
    ...readPart(budget, 'metadata', readIdentity),
    ...readPart(budget, 'spec', (spec) => ({
      maxUnavailable: readIntOrText(spec, 'maxUnavailable'),
      minAvailable: readIntOrText(spec, 'minAvailable'),
    })),
    ...readPart(budget, 'status', (status) => ({
      expectedPods: readInteger(status, 'expectedPods') ?? 0,
      desiredHealthy: readInteger(status, 'desiredHealthy') ?? 0,
    })),
  }));
}

function readIntOrText(spec: WireObject, key: string): number | string | undefined {
  return typeof spec[key] === 'string' ? readText(spec, key) : readInteger(spec, key);
}

/** `unhealthyPodEvictionPolicy`; without it, the healthy pods decide. Nothing if neither is there. */
function unreadyRule(budget: WireObject): Pick<DisruptionBudget, 'allowsUnready'> {
  const policy = readPart(budget, 'spec', (spec) => readText(spec, 'unhealthyPodEvictionPolicy'));
  if (policy === 'AlwaysAllow') return { allowsUnready: true };
  return readPart(budget, 'status', (status) => {
    const desired = readInteger(status, 'desiredHealthy');
    const current = readInteger(status, 'currentHealthy');
    if (desired === undefined && current === undefined) return {};
    return { allowsUnready: (desired ?? 0) > 0 && (current ?? 0) >= (desired ?? 0) };
  });
}

function isStale(budget: WireObject): boolean {
  const latest = readPart(budget, 'metadata', (metadata) => readInteger(metadata, 'generation') ?? 0);
  return readPart(budget, 'status', (status) => readInteger(status, 'observedGeneration') ?? 0) < latest;
}

function readBudgetStatus(status: WireObject): Pick<DisruptionBudget, 'disruptionsAllowed' | 'disruptedPods'> {
  return {
    disruptionsAllowed: readInteger(status, 'disruptionsAllowed') ?? 0,
    disruptedPods: new Set(readTextMap(status, 'disruptedPods').keys()),
  };
}

/** Reads a `metav1` LabelSelector. */
export function readSelector(object: WireObject, key: string): LabelSelector | undefined {
  return readObject(object, key, (selector) => ({
    matchLabels: readTextMap(selector, 'matchLabels'),
    matchExpressions: readList(selector, 'matchExpressions', readRequirement),
  }));
}

/** Reads one requirement of a selector. */
export function readRequirement(requirement: WireObject): Requirement {
  return {
    key: readClippedText(requirement, 'key') ?? '',
    operator: readClippedText(requirement, 'operator') ?? '',
    values: readTexts(requirement, 'values'),
  };
}
