import type { NodeEntry, Node, Taint } from '#shared/domain/snapshot/node-entry.ts';
import { type PlacedPod, type HostPort, hostPortsOf, isSamePort } from '#shared/domain/snapshot/placed-pod.ts';
import type { NodeSelectorTerm, Pod, Toleration } from '#shared/domain/pod/pod.ts';
import { isValidRequirement, meetsRequirement, type Requirement } from '#shared/domain/labels/label-selector.ts';
import { memoize } from '#shared/domain/base/memoize.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { podRequests } from '#shared/domain/pod/pod-requests.ts';
import { scheduledAmounts } from '#shared/domain/quantity/resource-columns.ts';
import { minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';

/** Why one filter keeps a pod off a node. */
export interface FilterRefusal {
  /** The scheduler plugin that reports it. */
  readonly filter: string;
  /** The texts that Kubernetes counts and prints. */
  readonly reasons: readonly string[];
  /** False if removing pods from the node cannot help (`UnschedulableAndUnresolvable`). */
  readonly isResolvable: boolean;
}

/** A filter that looks at the node alone, prepared for one incoming pod. */
export type NodeFilter = (entry: NodeEntry) => FilterRefusal | undefined;

/**
 * A filter that depends on the other pods of a node, prepared for one incoming pod; `undefined` if it has nothing to
 * check.
 */
export interface PodAwareFilter {
  /** Starts a trial on a node with all of its present pods. */
  readonly open: (entry: NodeEntry) => FilterState;
}

/** The state of one filter during a trial, while pods are removed from a node and put back. */
export interface FilterState {
  readonly add: (placed: PlacedPod) => void;
  readonly remove: (placed: PlacedPod) => void;
  readonly refusal: () => FilterRefusal | undefined;
}

const OTHER_NODE_NAMED: FilterRefusal = {
  filter: 'NodeName',
  reasons: ["node(s) didn't match the requested node name"],
  isResolvable: false,
};

/** A pod that names its node fits nowhere else. `plugins/nodename/node_name.go`. */
export function nodeName(pod: Pod): NodeFilter {
  const wanted = pod.spec.nodeName ?? '';
  return ({ node }) => (wanted === '' || wanted === node.name ? undefined : OTHER_NODE_NAMED);
}

const CORDONED = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };

const UNSCHEDULABLE: FilterRefusal = {
  filter: 'NodeUnschedulable',
  reasons: ['node(s) were unschedulable'],
  isResolvable: false,
};

/** A cordoned node takes only pods that tolerate the taint of cordoned nodes. `plugins/nodeunschedulable/node_unschedulable.go`. */
export function nodeUnschedulable(pod: Pod): NodeFilter {
  const isTolerant = toleratesTaint(pod.spec.scheduling.tolerations, CORDONED);
  return ({ node }) => (node.isUnschedulable && !isTolerant ? UNSCHEDULABLE : undefined);
}

const UNTOLERATED_TAINT: FilterRefusal = {
  filter: 'TaintToleration',
  reasons: ['node(s) had untolerated taint(s)'],
  isResolvable: false,
};

/** Every taint that keeps pods away must be tolerated. `plugins/tainttoleration/taint_toleration.go`. */
export function taintToleration(pod: Pod): NodeFilter {
  const { tolerations } = pod.spec.scheduling;
  return ({ node }) => (toleratesNode(tolerations, node.taints) ? undefined : UNTOLERATED_TAINT);
}

/** True if no NoSchedule or NoExecute taint is left untolerated. */
export function toleratesNode(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  return taints.every((taint) => !keepsPodsAway(taint) || toleratesTaint(tolerations, taint));
}

/** True if one of the tolerations covers the taint. */
export function toleratesTaint(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some((toleration) => covers(toleration, taint));
}

/** Whether the taint keeps away new pods that do not tolerate it. */
export function keepsPodsAway(taint: Taint): boolean {
  return taint.effect === 'NoSchedule' || taint.effect === 'NoExecute';
}

/** `k8s.io/api/core/v1/toleration.go` ToleratesTaint, with the comparison operators off as in 1.36. */
function covers(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== '' && toleration.effect !== taint.effect) return false;
  if (toleration.key !== '' && toleration.key !== taint.key) return false;
  if (toleration.operator === '' || toleration.operator === 'Equal') return toleration.value === taint.value;
  return toleration.operator === 'Exists';
}

const AFFINITY_MISMATCH: FilterRefusal = {
  filter: 'NodeAffinity',
  reasons: ["node(s) didn't match Pod's node affinity/selector"],
  isResolvable: false,
};

/** The node must match the node selector and one of the affinity terms. `plugins/nodeaffinity/node_affinity.go` Filter. */
export function nodeAffinity(pod: Pod): NodeFilter {
  const isWanted = wantedNodes(pod);
  return ({ node }) => (isWanted(node) ? undefined : AFFINITY_MISMATCH);
}

/**
 * Which nodes a pod's selector and required affinity allow.
 * `component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go`.
 */
export function wantedNodes(pod: Pod): (node: Node) => boolean {
  const selector = [...pod.spec.scheduling.nodeSelector];
  const terms = pod.spec.scheduling.nodeAffinity?.terms.filter(isUsableTerm);
  return (node) => {
    if (!selector.every(([key, value]) => node.labels.get(key) === value)) return false;
    return terms === undefined || terms.some((term) => matchesTerm(node, term));
  };
}

/**
 * The only nodes that the affinity terms allow by name; `undefined` if they do not restrict nodes by name.
 * `plugins/nodeaffinity/node_affinity.go` PreFilter.
 */
export function namedNodes(pod: Pick<Pod, 'spec'>): ReadonlySet<string> | undefined {
  const terms = pod.spec.scheduling.nodeAffinity?.terms ?? [];
  const named = terms.map(namesOfTerm);
  if (named.length === 0 || named.includes(undefined)) return undefined;
  return new Set(named.flatMap((names) => names ?? []));
}

function namesOfTerm(term: NodeSelectorTerm): readonly string[] | undefined {
  const lists = term.matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  const [first, ...others] = lists.map((requirement) => requirement.values);
  return first?.filter((name) => others.every((names) => names.includes(name)));
}

/** A term that is empty, or that the API server would refuse, matches no node. */
function isUsableTerm({ matchExpressions, matchFields }: NodeSelectorTerm): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return matchExpressions.every(isValidRequirement) && matchFields.every(isValidFieldRequirement);
}

function isValidFieldRequirement({ operator, values }: Requirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values.length === 1;
}

/** Whether a term matches the node; an empty or invalid one matches none. */
export function matchesNodeTerm(node: Node, term: NodeSelectorTerm): boolean {
  return isUsableTerm(term) && matchesTerm(node, term);
}

function matchesTerm(node: Node, term: NodeSelectorTerm): boolean {
  return (
    term.matchExpressions.every((requirement) => meetsRequirement(node.labels, requirement)) &&
    term.matchFields.every((requirement) => meetsField(node, requirement))
  );
}

/** The name is the only field; any other is read as empty. */
function meetsField(node: Node, { key, operator, values }: Requirement): boolean {
  const isEqual = values[0] === (key === 'metadata.name' ? node.name : '');
  return isEqual === (operator === 'In');
}

const PORTS_IN_USE: FilterRefusal = {
  filter: 'NodePorts',
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  isResolvable: true,
};

/** The host ports of the pod must be free. `plugins/nodeports/node_ports.go`. */
export function nodePorts(pod: Pod): PodAwareFilter | undefined {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0) return undefined;
  const byPort = Map.groupBy(wanted, ({ port }) => port);
  const isClashing = memoize((ports: readonly HostPort[]) => ports.some((port) => isWanted(byPort, port)));
  const clashes = ({ hostPorts }: PlacedPod): boolean => hostPorts.length > 0 && isClashing(hostPorts);
  return {
    open: ({ occupancy }) => {
      let clashing = occupancy.pods.filter(clashes).length;
      return {
        add: (placed) => (clashing += Number(clashes(placed))),
        remove: (placed) => (clashing -= Number(clashes(placed))),
        refusal: () => (clashing > 0 ? PORTS_IN_USE : undefined),
      };
    },
  };
}

function isWanted(wanted: ReadonlyMap<string, readonly HostPort[]>, port: HostPort): boolean {
  return wanted.get(port.port)?.some((other) => isSamePort(port, other)) ?? false;
}

/** One resource that the incoming pod needs. */
export interface Need {
  readonly resource: string;
  /**
   * The text of Kubernetes if only this resource is missing: one list shared by all nodes, because a plan keeps one for
   * each.
   */
  readonly shortage: readonly [string];
  /** Its column; -1 if the snapshot does not know it. */
  readonly column: number;
  /** Above 0. */
  readonly amount: Whole;
}

/** What would be left on a node after the incoming pod's needs; negative if the node has too little. */
interface RoomLeft {
  readonly needs: readonly Need[];
  /** Indexed like the needs. */
  readonly left: ArrayLike<Whole>;
  readonly slots: Whole;
}

/** The same, changed as pods are added and removed. */
export interface Room extends RoomLeft {
  readonly left: Whole[];
  slots: Whole;
}

const NOTHING: readonly string[] = [];

/**
 * What the pod needs; a resource requested as 0 is ignored. `plugins/noderesources/fit.go` computePodResourceRequest.
 */
export function needsOf(pod: Pod, snapshot: ClusterSnapshot): readonly Need[] {
  const amounts = [...scheduledAmounts(podRequests(pod))].filter(([, amount]) => amount > 0);
  return amounts.map(([resource, amount]) => ({
    resource,
    shortage: [`Insufficient ${resource}`],
    column: snapshot.columns.indexes.get(resource) ?? -1,
    amount,
  }));
}

/** The room on a node with all of its pods. */
export function openRoom(needs: readonly Need[], { allocatable, allowedPods, occupancy }: NodeEntry): Room {
  const left = needs.map(({ amount, column }) =>
    minus(minus(allocatable[column] ?? 0, occupancy.requested[column] ?? 0), amount),
  );
  return { needs, left, slots: minus(allowedPods, occupancy.pods.length + 1) };
}

/** Adds a pod. */
export function take(room: Room, { row }: PlacedPod): void {
  room.needs.forEach(({ column }, index) => (room.left[index] = minus(room.left[index] ?? 0, row[column] ?? 0)));
  room.slots = minus(room.slots, 1);
}

/** Removes a pod. */
export function release(room: Room, { row }: PlacedPod): void {
  room.needs.forEach(({ column }, index) => (room.left[index] = plus(room.left[index] ?? 0, row[column] ?? 0)));
  room.slots = plus(room.slots, 1);
}

/** What is missing, in the words of `plugins/noderesources/fit.go` fitsRequest. */
export function shortReasons({ needs, left, slots }: RoomLeft): readonly string[] {
  const short = needs.filter((_, index) => (left[index] ?? 0) < 0);
  if (slots >= 0 && short.length <= 1) return short[0]?.shortage ?? NOTHING;
  const reasons = short.flatMap(({ shortage }) => shortage);
  return slots < 0 ? ['Too many pods', ...reasons] : reasons;
}

/** The node must have a pod slot and enough of each resource left. `plugins/noderesources/fit.go` Filter. */
export function nodeResourcesFit(needs: readonly Need[]): PodAwareFilter {
  return {
    open: (entry) => {
      const room = openRoom(needs, entry);
      return {
        add: (placed) => take(room, placed),
        remove: (placed) => release(room, placed),
        refusal: () => resourceRefusal(room, entry),
      };
    },
  };
}

/**
 * What is missing, if anything; preemption cannot help if a need exceeds the node's allocatable amount.
 * `plugins/noderesources/fit.go` fitsRequest.
 */
export function resourceRefusal(room: RoomLeft, { allocatable }: NodeEntry): FilterRefusal | undefined {
  const reasons = shortReasons(room);
  if (reasons.length === 0) return undefined;
  const isResolvable = room.needs.every(({ amount, column }) => amount <= (allocatable[column] ?? 0));
  return { filter: 'NodeResourcesFit', reasons, isResolvable };
}
