import { type AffinityTerm, sharedTerms, TermIndex } from '#shared/domain/pod/affinity-term.ts';
import type { ContainerStatus, Instant, Pod, Container, ContainerPort, PodSpec } from '#shared/domain/pod/pod.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import { scheduledAmounts } from '#shared/domain/quantity/resource-columns.ts';
import { minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';
import { type LabelSelector, prepareSelector, type Selector } from '#shared/domain/labels/label-selector.ts';
import { isSidecar } from '#shared/domain/pod/pod-resize.ts';

const NONE: readonly never[] = [];

/** A pod that is on a node or nominated to one, prepared once for many decisions. */
export interface PlacedPod {
  readonly pod: Pod;
  /** Its `TRAITS`. */
  readonly traits: number;
  readonly priority: number;
  /** In seconds since 1970, which V8 keeps in the object itself; `undefined` if the pod has not started. */
  readonly startedAt: number | undefined;
  /** The position in the order in which the snapshot learned about the pods. */
  readonly arrival: number;
  /** What it takes, by column. */
  row: readonly Whole[];
  readonly hostPorts: readonly HostPort[];
  readonly antiAffinity: readonly AffinityTerm[];
  /** The disruption budgets that count it. */
  budgets: readonly BudgetEntry[];
}

/**
 * What a pass over all pods of a cluster looks for, as bits of one number: for most pods it reads nothing else, and
 * with 150,000 pods the time is spent waiting for memory.
 */
export const TRAITS = {
  terminating: 1,
  /** It has rules or preferences about the node that it runs on. */
  placementRules: 2,
  /** It has terms that count in the scores of other pods. */
  attracts: 4,
  /** A container has ended since the pod was placed. */
  hasEnded: 8,
  /** It requests no cpu or no memory. */
  lacksRequests: 16,
} as const;

/** Whether a pod has one of the `TRAITS`. */
export function hasTrait({ traits }: Pick<PlacedPod, 'traits'>, trait: number): boolean {
  return (traits & trait) !== 0;
}

/** What a pod takes. Requests follow a resize in progress. `pkg/scheduler/framework/types.go` PodInfo.CalculateResource. */
export function amountsOf(pod: Pod): ReadonlyMap<string, Whole> {
  return scheduledAmounts(podRequests(pod, SCHEDULER_VIEW));
}

/** Prepares a pod; the row holds its `amountsOf`. */
export function preparePlacedPod(pod: Pod, row: readonly Whole[], arrival: number): PlacedPod {
  return {
    pod,
    traits: traitsOf(pod, row),
    priority: priorityOf(pod),
    startedAt: secondsOf(pod.status.startTime),
    arrival,
    row,
    hostPorts: orNone(sharedHostPorts(pod)),
    antiAffinity: orNone(sharedTerms(pod, pod.spec.scheduling.podAntiAffinity)),
    budgets: NONE,
  };
}

function traitsOf(pod: Pod, row: readonly Whole[]): number {
  const { containers, initContainers } = pod.status;
  const { podAffinity, preferredPodTerms } = pod.spec.scheduling;
  const { terminating, placementRules, attracts, hasEnded, lacksRequests } = TRAITS;
  return (
    (pod.deletion === undefined ? 0 : terminating) |
    (hasPlacementRules(pod) ? placementRules : 0) |
    (podAffinity.length + preferredPodTerms.length > 0 ? attracts : 0) |
    (containers.some(endedBefore) || initContainers.some(endedBefore) ? hasEnded : 0) |
    (requestsBoth(row) ? 0 : lacksRequests)
  );
}

function hasPlacementRules({ spec }: Pod): boolean {
  const { nodeAffinity, nodeSelector, podAntiAffinity, topologySpread, preferredNodeTerms } = spec.scheduling;
  const isBound = nodeAffinity !== undefined || nodeSelector.size > 0 || podAntiAffinity.length > 0;
  return isBound || topologySpread.length > 0 || preferredNodeTerms.length > 0;
}

function requestsBoth([cpu = 0, memory = 0]: readonly Whole[]): boolean {
  return cpu > 0 && memory > 0;
}

function endedBefore({ restartCount, endReason }: ContainerStatus): boolean {
  return restartCount > 0 || endReason !== undefined;
}

/** Most lists are empty, and all of them share one empty list. */
export function orNone<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NONE : list;
}

/** No priority is 0. `component-helpers/scheduling/corev1/helpers.go` PodPriority. */
export function priorityOf(pod: Pod): number {
  return pod.spec.priority ?? 0;
}

/** Orders by importance: higher priority, then earlier start, then earlier arrival. `pkg/scheduler/util/utils.go` MoreImportantPod. */
function compareImportance(a: PlacedPod, b: PlacedPod): number {
  return compareRank(a, b) || a.arrival - b.arrival;
}

/** Importance without the order of arrival: 0 for pods that Kubernetes ranks equally. */
export function compareRank(a: PlacedPod, b: PlacedPod): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const first = a.startedAt ?? Infinity;
  const second = b.startedAt ?? Infinity;
  if (first === second) return 0;
  return first < second ? -1 : 1;
}

function secondsOf(time: Instant | undefined): number | undefined {
  return time === undefined ? undefined : time / 1_000;
}

/** A PodDisruptionBudget as preemption sees it. */
export interface DisruptionBudget {
  readonly namespace: string;
  readonly name: string;
  /** Both `undefined` and an empty selector match no pod here. */
  readonly selector: LabelSelector | undefined;
  readonly disruptionsAllowed: number;
  /** Names of pods whose disruption the API server has already counted. */
  readonly disruptedPods: ReadonlySet<string>;
  /** A pod that is not ready may be evicted without using the budget: its policy says so, or its healthy pods suffice. */
  readonly allowsUnready?: boolean;
  /** Its controller has not seen the latest spec, so its status does not count. */
  readonly isStale?: boolean;
}

/** A disruption budget in a snapshot; its counters change often, its selector hardly ever. */
export interface BudgetEntry {
  budget: DisruptionBudget;
  readonly selector: Selector;
  /** Its slot among the budgets of the snapshot, which another budget may reuse later. */
  readonly slot: number;
}

export function prepareBudget(budget: DisruptionBudget, slot: number): BudgetEntry {
  return { budget, selector: prepareSelector(budget.selector), slot };
}

/**
 * True if the budget counts the pod: same namespace, a selector that is not empty and matches, a pod with labels.
 * `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go` filterPodsWithPDBViolation.
 */
export function countsPod(entry: BudgetEntry, pod: Pod): boolean {
  if (entry.budget.namespace !== pod.namespace || pod.labels.size === 0) return false;
  return !entry.selector.isEmpty && entry.selector.matches(pod.labels);
}

/** The pods of one node, known or not yet known. Changed only through the functions of this folder. */
export interface Occupancy {
  /** In order of importance. */
  readonly pods: PlacedPod[];
  /** Pending pods nominated to this node, in order of arrival. */
  readonly nominated: PlacedPod[];
  /** What the pods take together, by column. */
  readonly requested: Whole[];
  /** The `TRAITS` of the pods together; absent after a pod with some was removed, until they are asked for. */
  traits: number | undefined;
}

export function createOccupancy(): Occupancy {
  return { pods: [], nominated: [], requested: [], traits: 0 };
}

/** Adds a pod to the node. */
export function addToNode(occupancy: Occupancy, placed: PlacedPod): void {
  const { pods, requested } = occupancy;
  const before = pods.findLastIndex((other) => compareImportance(other, placed) <= 0);
  pods.splice(before + 1, 0, placed);
  if (occupancy.traits !== undefined) occupancy.traits |= placed.traits;
  placed.row.forEach((amount, column) => (requested[column] = plus(requested[column] ?? 0, amount)));
}

/** Removes a pod from the node. */
export function removeFromNode(occupancy: Occupancy, placed: PlacedPod): void {
  const { pods, requested } = occupancy;
  pods.splice(pods.indexOf(placed), 1);
  if (placed.traits !== 0) occupancy.traits = undefined;
  placed.row.forEach((amount, column) => (requested[column] = minus(requested[column] ?? 0, amount)));
}

/** The `TRAITS` that some pod has. */
export function traitsOfPods(occupancy: Occupancy): number {
  occupancy.traits ??= occupancy.pods.reduce((all, { traits }) => all | traits, 0);
  return occupancy.traits;
}

/** One list, which all pods of a template share. */
type Terms = readonly AffinityTerm[];

/** Pods on nodes that keep others away, by their anti-affinity: pods of the same template are compared with another pod once. */
export class AntiAffinePods {
  readonly terms = new TermIndex<Terms>();
  readonly #pods = new Map<Terms, Set<PlacedPod>>();
  #size = 0;

  /** The number of pods. */
  get size(): number {
    return this.#size;
  }

  /** The pods that have this list of terms. */
  with(terms: Terms): Iterable<PlacedPod> {
    return this.#pods.get(terms) ?? [];
  }

  /** Adds a pod that has terms. */
  add(placed: PlacedPod): void {
    const { antiAffinity } = placed;
    const known = this.#pods.get(antiAffinity);
    this.#size += 1;
    if (known !== undefined) known.add(placed);
    else this.#begin(antiAffinity, placed);
  }

  /** Removes a pod; does nothing if the pod is not among these. */
  delete(placed: PlacedPod): void {
    const { antiAffinity } = placed;
    const pods = this.#pods.get(antiAffinity);
    if (pods?.delete(placed) !== true) return;
    this.#size -= 1;
    if (pods.size > 0) return;
    this.#pods.delete(antiAffinity);
    for (const term of antiAffinity) this.terms.remove(term);
  }

  #begin(antiAffinity: Terms, placed: PlacedPod): void {
    this.#pods.set(antiAffinity, new Set([placed]));
    for (const term of antiAffinity) this.terms.add(term, antiAffinity);
  }
}

/** A port of the node that a pod uses, with defaults for address and protocol filled in. */
export interface HostPort {
  readonly address: string;
  /** Protocol and number. */
  readonly port: string;
}

const EVERY_ADDRESS = '0.0.0.0';

/** The host ports of the containers that run as long as the pod does. `pkg/scheduler/util/utils.go` GetHostPorts. */
export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  const lasting = [...spec.initContainers.filter(isSidecar), ...spec.containers];
  const ports = lasting.flatMap((container) => container.ports);
  return ports.filter((port) => port.hostPort > 0).map(toHostPort);
}

interface PortOwner extends Pick<PodSpec, 'initContainers'> {
  readonly ports: readonly HostPort[];
}

const KNOWN = new WeakMap<readonly Container[], PortOwner>();

/** As `hostPortsOf`, once for all pods that have the same containers: a pod can have thousands, and a Deployment many pods. */
function sharedHostPorts(pod: Pod): readonly HostPort[] {
  const { containers, initContainers } = pod.spec;
  const known = KNOWN.get(containers);
  if (known?.initContainers === initContainers) return known.ports;
  const ports = hostPortsOf(pod);
  if (ports.length > 0) KNOWN.set(containers, { initContainers, ports });
  return ports;
}

/** True if two pods cannot both have their port. `k8s.io/kube-scheduler/framework/types.go` HostPortInfo.CheckConflict. */
export function isSamePort(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port) return false;
  return a.address === b.address || a.address === EVERY_ADDRESS || b.address === EVERY_ADDRESS;
}

function toHostPort({ hostIP, hostPort, protocol }: ContainerPort): HostPort {
  return { address: hostIP || EVERY_ADDRESS, port: `${protocol || 'TCP'} ${hostPort}` };
}
