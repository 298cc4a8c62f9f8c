import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { WildCluster } from './wild-cluster.ts';

/*
 * What an eviction must not do, as Kubernetes and its users count it, read from the wire objects and not by our readers.
 */

const OWN_NAMESPACES = ['kube-system', 'plimsoll-system', 'plimsoll-node'];
const SYSTEM_PRIORITY = 2_000_000_000;

type Wire = Readonly<Record<string, unknown>>;

/** Why pods must not be evicted, each and together. */
export function evictionFaults(cluster: WildCluster, uids: readonly string[]): readonly string[] {
  const pods = new Map(cluster.pods.map((pod) => [pod.metadata.uid ?? '', pod]));
  const victims = uids.flatMap((uid) => pods.get(uid) ?? []);
  const unknown = uids.filter((uid) => !pods.has(uid)).map((uid) => `evicts ${uid}, which is not there`);
  const doubled = uids.filter((uid, index) => uids.indexOf(uid) !== index).map((uid) => `evicts ${uid} twice`);
  return [...unknown, ...doubled, ...victims.flatMap(protectedFault), ...budgetFaults(cluster, victims)];
}

/** Pods that nobody evicts: of the system, of a node itself, or already going. */
export function protectedFault(pod: KubeObject): readonly string[] {
  const { namespace = '', uid = '', deletionTimestamp } = pod.metadata;
  const { priority = 0 } = specOf(pod);
  const why = [
    ...(OWN_NAMESPACES.includes(namespace) ? [`is in ${namespace}`] : []),
    ...(Number(priority) >= SYSTEM_PRIORITY ? [`has priority ${String(priority)}`] : []),
    ...(isMirror(pod) ? ['is a mirror pod'] : []),
    ...(deletionTimestamp === undefined ? [] : ['is terminating']),
    ...(hasEnded(pod) ? ['has ended'] : []),
  ];
  return why.map((each) => `evicts ${uid}, which ${each}`);
}

interface Taking {
  readonly uid: string;
  readonly node: string;
  /** The UIDs of those that go for it. */
  readonly gone: readonly string[];
}

/** Why the pod could not run on the node, though pods go for it there. */
export function takerFaults({ pods, nodes }: WildCluster, { uid, node: name, gone }: Taking): readonly string[] {
  const taker = pods.find(({ metadata }) => metadata.uid === uid);
  const node = nodes.find(({ metadata }) => metadata.name === name);
  if (taker === undefined || node === undefined) return [`pods go for ${uid} on ${name}, which is not there`];
  const elsewhere = pods.filter((pod) => gone.includes(pod.metadata.uid ?? '') && specOf(pod)['nodeName'] !== name);
  const why = [...nodeFaults(node, specOf(taker)), ...(elsewhere.length > 0 ? ['has not all of them'] : [])];
  return why.map((each) => `pods go for ${uid} on ${name}, which ${each}`);
}

function nodeFaults(node: KubeObject, { tolerations = [], nodeSelector = {} }: WireRules): readonly string[] {
  const { unschedulable, taints = [] } = specOf(node) as { unschedulable?: boolean; taints?: readonly WireTaint[] };
  const isCordoned = unschedulable === true && !tolerations.some(({ key }) => key === undefined);
  const refusing = taints.filter((taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some(tolerates(taint)));
  const others = Object.entries(nodeSelector).filter(([key, value]) => node.metadata.labels?.[key] !== value);
  return [
    ...(isCordoned ? ['is cordoned'] : []),
    ...refusing.map(({ key }) => `has taint ${key}`),
    ...others.map(([key]) => `has another ${key}`),
  ];
}

interface WireTaint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

interface WireRules {
  readonly tolerations?: readonly { readonly key?: string; readonly value?: string }[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
}

function tolerates(taint: WireTaint) {
  return ({ key, value }: NonNullable<WireRules['tolerations']>[number]): boolean =>
    key === undefined || (key === taint.key && value === taint.value);
}

/** Each eviction in turn, answered as the Eviction API does. `pkg/registry/core/pod/storage/eviction.go` */
function budgetFaults({ budgets }: WildCluster, victims: readonly KubeObject[]): readonly string[] {
  const left = new Map(budgets.map((budget) => [budget, Number(statusOf(budget)['disruptionsAllowed'] ?? 0)]));
  return victims.flatMap((pod) => {
    const covering = isFree(pod) ? [] : budgets.filter((budget) => covers(budget, pod));
    const [budget] = covering;
    if (covering.length > 1) return [`evicts ${pod.metadata.uid}, which has ${covering.length} budgets`];
    if (budget === undefined || (!isReady(pod) && allowsUnready(budget))) return [];
    const allowed = isStale(budget) ? 0 : (left.get(budget) ?? 0);
    left.set(budget, allowed - 1);
    return allowed >= 1 ? [] : [`evicts ${pod.metadata.uid} beyond budget ${budget.metadata.name}`];
  });
}

function isStale(budget: KubeObject): boolean {
  return Number(statusOf(budget)['observedGeneration'] ?? 0) < (budget.metadata.generation ?? 0);
}

function isFree(pod: KubeObject): boolean {
  return (
    ['Pending', 'Succeeded', 'Failed'].includes(String(statusOf(pod)['phase'])) ||
    pod.metadata.deletionTimestamp !== undefined
  );
}

function allowsUnready(budget: KubeObject): boolean {
  if (specOf(budget)['unhealthyPodEvictionPolicy'] === 'AlwaysAllow') return true;
  const { desiredHealthy = 0, currentHealthy = 0 } = statusOf(budget);
  return Number(desiredHealthy) > 0 && Number(currentHealthy) >= Number(desiredHealthy);
}

/** By the labels that the generator writes; no selector selects nothing, an empty one everything. */
function covers(budget: KubeObject, { metadata }: KubeObject): boolean {
  if (budget.metadata.namespace !== metadata.namespace) return false;
  const selector = specOf(budget)['selector'] as
    | {
        matchLabels?: Record<string, string>;
        matchExpressions?: readonly { operator: string; values?: readonly string[] }[];
      }
    | undefined;
  if (selector === undefined) return false;
  const app = metadata.labels?.['app'];
  if (selector.matchLabels !== undefined) return selector.matchLabels['app'] === app;
  const [expression] = selector.matchExpressions ?? [];
  if (expression === undefined) return true;
  return expression.operator === 'Exists' ? app !== undefined : !(expression.values ?? []).includes(app ?? '');
}

export function isMirror(pod: KubeObject): boolean {
  const owners = (pod.metadata['ownerReferences'] ?? []) as readonly { kind: string; name: string }[];
  const isOfNode = owners.some(({ kind, name }) => kind === 'Node' && name === specOf(pod)['nodeName']);
  return isOfNode && pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined;
}

function isReady(pod: KubeObject): boolean {
  const conditions = (statusOf(pod)['conditions'] ?? []) as readonly { type: string; status: string }[];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

export function hasEnded(pod: KubeObject): boolean {
  return ['Succeeded', 'Failed'].includes(String(statusOf(pod)['phase']));
}

export function specOf(object: KubeObject): Wire {
  return (object['spec'] ?? {}) as Wire;
}

export function statusOf(object: KubeObject): Wire {
  return (object['status'] ?? {}) as Wire;
}
