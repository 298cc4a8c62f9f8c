import type { EvictionEntry, NextEntry, NodePressure } from '#shared/api/node-pressure.ts';
import { decodeEvictedPods } from '#shared/api/evicted-pods.ts';
import type { Evidence, NodeFacts } from '#shared/domain/disruption/cause.ts';
import type { Removals, ReportedEviction } from '#shared/domain/disruption/removals.ts';
import { deletedAt } from '#shared/domain/pod/pod-conditions.ts';
import { hasEnded, type Instant, isBound, type Pod, MAX_SKEW_MS, controllerOf } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { DRAIN_TAINTS, type Node } from '#shared/domain/snapshot/node-entry.ts';
import { type PlacedPod, priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { nodeOrNominated } from '#shared/domain/snapshot/snapshot-pods.ts';
import { ANNOTATION_CLASS_RULE, EVENT_REASONS } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { createListWatch } from '#shared/kube/reflector/list-watch.ts';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { EVENTS, QUEUES, RESCHEDULING_POLICIES } from '#shared/kube/resource.ts';
import type { SharedContext } from '#shared/kube/reflector/shared-streams.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { ShownPod } from '#scheduler/preemptions/preemption-loops.ts';

/** Receives what happens to pods, after the snapshot has recorded it. */
export interface RemovalWatch {
  readonly observePod: (seen: ShownPod, snapshot: ClusterSnapshot) => void;
  /** `raw` is the pod's last state; absent if the pod was only missing from a list. */
  readonly observeGone: (uid: string, gone: GonePod, snapshot: ClusterSnapshot) => void;
  readonly observeEvictions: (evictions: readonly ReportedEviction[]) => void;
}

/** What is known about a deleted pod: its state in the snapshot, if any, and its last state. */
export interface GonePod {
  readonly placed: PlacedPod | undefined;
  readonly raw: KubeObject | undefined;
}

/**
 * Detects removals in what the watches of a process show. The pods of the first list existed before, so they are not
 * replacements.
 */
export function watchRemovals(removals: Removals, clock: Pick<Clock, 'now'>, isFirstList: () => boolean): RemovalWatch {
  const observePod: RemovalWatch['observePod'] = (seen, snapshot) => {
    const { pod, previous } = seen;
    const at = clock.now();
    if (isNominated(pod)) nominate(removals, pod, at);
    const isPlaced = isBound(pod) && (previous === undefined || !isBound(previous.pod));
    if (isPlaced && !isFirstList()) place(removals, pod);
    // The pod was terminating before the process first saw it.
    const began = previous === undefined ? removedAt(pod, at) : at;
    if (isRemoved(seen)) removals.begin({ ...removalOf(pod, seen.raw, snapshot), at: began }, hasEnded(pod));
    else if (hasEnded(pod)) removals.gone(pod.uid, at);
  };
  return {
    observePod,
    observeGone(uid, { placed, raw }, snapshot) {
      const at = clock.now();
      const pod = placed?.pod;
      if (pod !== undefined && isBound(pod)) removals.begin({ ...removalOf(pod, raw, snapshot), at });
      removals.gone(uid, at);
    },
    observeEvictions: (evictions) => {
      for (const each of evictions) removals.reportEviction(each);
    },
  };
}

function isNominated(pod: Pod): boolean {
  return !isBound(pod) && nodeOrNominated(pod) !== '';
}

/** A failure before the pod was first seen is not reported again. */
function isRemoved({ pod, raw, previous }: ShownPod): boolean {
  return isRemovedPod(pod, raw) && (previous !== undefined || !hasEnded(pod));
}

/**
 * Whether the pod is being removed from its node or has been. The deletion of a pod that ended by itself does no harm,
 * and a pod whose containers failed was not removed.
 */
export function isRemovedPod(pod: Pod, raw: KubeObject): boolean {
  if (!isBound(pod)) return false;
  if (!hasEnded(pod)) return pod.deletion !== undefined;
  return pod.status.phase === 'Failed' && (disruptionTargetOf(pod) !== undefined || isOomKilled(raw));
}

/** When the deletion was accepted. */
export function removedAt(pod: Pod, otherwise: Instant): Instant {
  return deletedAt(pod) ?? otherwise;
}

/** What a pod and its node show about a removal. */
export function removalOf(pod: Pod, raw: KubeObject | undefined, { nodes }: Pick<ClusterSnapshot, 'nodes'>) {
  const node = pod.spec.nodeName ?? '';
  const classRule = pod.annotations.get(ANNOTATION_CLASS_RULE);
  return { pod, node, classRule, evidence: evidenceOf(pod, raw, nodes.get(node)?.node) };
}

function evidenceOf(pod: Pod, raw: KubeObject | undefined, node: Node | undefined): Evidence {
  const statusReason = raw && fieldOf(raw['status'], 'reason');
  return {
    disruptionTarget: raw === undefined ? disruptionTargetOf(pod) : targetIn(raw),
    statusReason: typeof statusReason === 'string' ? statusReason : undefined,
    isOomKilled: pod.deletion === undefined && isOomKilled(raw),
    isWitnessed: raw !== undefined,
    node: node && stateOf(node),
    agent: undefined,
  };
}

function disruptionTargetOf({ status }: Pod): string | undefined {
  return status.conditions.find(({ type, status: is }) => type === 'DisruptionTarget' && is === 'True')?.reason;
}

function targetIn(raw: KubeObject): string | undefined {
  const conditions = itemsOf(fieldOf(raw['status'], 'conditions'));
  const target = conditions.find((each) => fieldOf(each, 'type') === 'DisruptionTarget');
  const reason = fieldOf(target, 'status') === 'True' ? fieldOf(target, 'reason') : undefined;
  return typeof reason === 'string' ? reason : undefined;
}

function isOomKilled(raw: KubeObject | undefined): boolean {
  if (raw === undefined) return false;
  return itemsOf(fieldOf(raw['status'], 'containerStatuses')).some(
    (each) => fieldOf(fieldOf(fieldOf(each, 'state'), 'terminated'), 'reason') === 'OOMKilled',
  );
}

/** Taints that the node controller sets if a kubelet has stopped reporting. */
const SILENT_TAINTS: readonly string[] = ['node.kubernetes.io/unreachable', 'node.kubernetes.io/not-ready'];

function stateOf({ isUnschedulable, taints }: Node): NodeFacts {
  const hasOneOf = (keys: readonly string[]): boolean => taints.some(({ key }) => keys.includes(key));
  return { isCordoned: isUnschedulable || hasOneOf(DRAIN_TAINTS), isSilent: hasOneOf(SILENT_TAINTS) };
}

function nominate(removals: Removals, pod: Pod, at: number): void {
  const { uid, name, namespace, spec } = pod;
  const nominatedNode = nodeOrNominated(pod);
  const { priorityClassName } = spec;
  removals.nominate({ uid, pod: name, namespace, priorityClassName, priority: priorityOf(pod), nominatedNode, at });
}

function place(removals: Removals, pod: Pod): void {
  const { uid, name, spec } = pod;
  removals.place({ uid, name, node: spec.nodeName ?? '', owner: controllerOf(pod)?.uid });
}

const REPORTED: ReadonlySet<EvictionEntry['outcome']> = new Set(['evicted', 'requested']);

/** The recent evictions in a NodePressure, each with the pods that the agent ranked next. */
export function reportedEvictions({ name, status }: NodePressure): readonly ReportedEviction[] {
  const observedAt = status?.observedAt;
  if (status === undefined || observedAt === undefined) return [];
  const isRecent = ({ mode, outcome, requestedAt }: EvictionEntry): boolean =>
    mode === 'Enforce' && REPORTED.has(outcome) && Math.abs(observedAt - (requestedAt ?? 0)) <= MAX_SKEW_MS;
  return status.evictions.filter(isRecent).map(({ uid, because, decision, outcome }) => ({
    by: 'agent' as const,
    uid,
    node: name,
    because,
    decision,
    isOpen: outcome === 'requested',
    ranked: rankedBehind(uid, status.next),
  }));
}

function rankedBehind(victim: string, next: readonly NextEntry[]): ReportedEviction['ranked'] {
  return next.flatMap(({ pod: key, uid, priority, because }) => {
    const [namespace = '', pod] = key.split('/');
    return uid === victim ? [] : [{ namespace, pod, priority, code: because.code }];
  });
}

/**
 * Reads the Events in which a scheduler names the preemptor of a pod. Nothing waits for them: without them nominations
 * show the preemptor, if only one is possible.
 */
export function followPreemptedEvents(removals: Removals, options: SharedContext): void {
  const source = { ...options, resource: EVENTS, fieldSelector: `reason=${EVENT_REASONS.preempted}` };
  createListWatch(source, () => ({
    set: (raw) => namePreemptor(removals, raw),
    remove: () => undefined,
    replace: () => () => undefined,
  }));
}

const EVICTING = [
  { by: 'rescheduler', resource: RESCHEDULING_POLICIES },
  { by: 'queues', resource: QUEUES },
] as const;

/** Reads from the status of ReschedulingPolicies and Queues which pods were evicted for them, and why. */
export function followEvictions(removals: Removals, options: SharedContext): void {
  for (const { by, resource } of EVICTING) {
    const objects = createReflector({ ...options, resource, slim: decodeEvictedPods, backoff: REFLECTOR_BACKOFF });
    objects.onChange(({ kind, value }) => {
      for (const { uid, node, because, decision } of kind === 'deleted' ? [] : value)
        removals.reportEviction({ by, uid, node, because, decision, ranked: [] });
    });
  }
}

/** `pkg/scheduler/framework/preemption/executor.go`; the Event has no `related`. */
const PREEMPTED_BY = /^Preempted by pod (?<uid>\S+) on node /;

function namePreemptor(removals: Removals, raw: KubeObject): void {
  const victim = fieldOf(raw['regarding'], 'uid');
  const note = raw['note'];
  const preemptor = typeof note === 'string' ? PREEMPTED_BY.exec(note)?.groups?.['uid'] : undefined;
  if (typeof victim === 'string' && preemptor !== undefined) removals.namePreemptor(victim, preemptor);
}
