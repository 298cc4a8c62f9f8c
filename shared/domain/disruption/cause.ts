import { type Because, reason } from '#shared/domain/base/because.ts';
import type { Verdict } from './disruption.ts';

/** Evidence of the cause on a removed pod and its node. Only what a tenant cannot write counts as evidence. */
export interface Evidence {
  /** The reason of the DisruptionTarget condition: Kubernetes' own components write it, with the right to a pod's status. */
  readonly disruptionTarget: string | undefined;
  /** `status.reason` of a pod that has failed. */
  readonly statusReason: string | undefined;
  /** Whether it failed because the kernel killed it. */
  readonly isOomKilled: boolean;
  /** Whether the pod was observed terminating or failing; otherwise only its absence was noticed. */
  readonly isWitnessed: boolean;
  readonly node: NodeFacts | undefined;
  /** What the NodePressure of the pod's node reports about its eviction by that node's agent. */
  readonly agent: Because | undefined;
  /** What the status of a ReschedulingPolicy reports about its move. */
  readonly rescheduler?: Because | undefined;
  /** What the status of a Queue reports about the pods evicted to make room for its own pods. */
  readonly queues?: Because | undefined;
  /** Who requested the removal, as the API server reported it to the webhook; only where limits are enforced. */
  readonly caller?: string | undefined;
}

export interface NodeFacts {
  readonly isCordoned: boolean;
  /** Whether its kubelet has stopped reporting. */
  readonly isSilent: boolean;
}

const KUBELET = 'kubelet';
const AGENT = 'plimsoll-agent';
const RESCHEDULER = 'plimsoll-rescheduling';
const QUEUES = 'plimsoll-queues';

interface Called {
  readonly caller: string | undefined;
}

function byCaller(caller: string | undefined): string {
  return caller === undefined ? '; the caller is not known' : ` by ${caller}`;
}

const REASONS = {
  preempted: reason('Preempted', () => 'a scheduler preempted it to make room for a pod of higher priority'),
  kubeletEvicted: reason('EvictedByKubelet', () => 'the kubelet evicted it because the node ran short of a resource'),
  criticalPod: reason('CriticalPodAdmitted', () => 'the kubelet ended it so that a critical pod could start'),
  kubeletEnded: reason(
    'EndedByKubelet',
    (f: { readonly statusReason: string }) => `the kubelet ended it: ${f.statusReason}`,
  ),
  nodeShutdown: reason('NodeShutdown', () => 'its node shut down'),
  nodeSilent: reason('NodeSilent', () => 'its node stopped reporting, and the pod was deleted'),
  nodeGone: reason('NodeGone', () => 'its node no longer exists, and the pod was deleted'),
  drained: reason('Drained', () => 'the Eviction API removed it from a node that was cordoned'),
  requested: reason(
    'RequestedThroughApi',
    ({ caller }: Called) => `it was removed through the Eviction API${byCaller(caller)}`,
  ),
  tainted: reason('Tainted', () => 'it does not tolerate a NoExecute taint of its node'),
  oomKilled: reason('OOMKilled', () => 'the kernel killed it because it ran out of memory'),
  deleted: reason('Deleted', ({ caller }: Called) => `it was deleted${byCaller(caller)}`),
  unwitnessed: reason('NotWitnessed', () => 'it was gone when the pods were listed again'),
  unexplained: reason(
    'Unexplained',
    (f: { readonly disruptionTarget: string }) => `its DisruptionTarget condition says ${f.disruptionTarget}`,
  ),
};

/** The longest that other components take to report what they know about the same removal. */
export const SETTLE_MS = 5_000;

/** Whether a component may still report why the Eviction API removed the pod. */
export function isUnexplained({ disruptionTarget, agent, rescheduler, queues }: Evidence): boolean {
  return disruptionTarget === 'EvictionByEvictionAPI' && (agent ?? rescheduler ?? queues) === undefined;
}

/**
 * The cause that the evidence shows: first what a component of Kubernetes reports about itself, then what only the
 * state of the node distinguishes. `k8s.io/api/core/v1` types.go, PodReason….
 */
export function causeOf(evidence: Evidence): Verdict {
  const { disruptionTarget, node } = evidence;
  switch (disruptionTarget) {
    case undefined:
      return withoutTarget(evidence);
    case 'PreemptionByScheduler':
      return verdict('Preemption', REASONS.preempted({}));
    case 'TerminationByKubelet':
      return endedByKubelet(evidence);
    case 'EvictionByEvictionAPI':
      return evictedThroughApi(evidence);
    case 'DeletionByTaintManager':
      return node?.isSilent === false
        ? verdict('Taint', REASONS.tainted({}))
        : verdict('NodeLost', REASONS.nodeSilent({}));
    case 'DeletionByPodGC':
      return verdict('NodeLost', REASONS.nodeGone({}));
    default:
      return verdict('Unknown', REASONS.unexplained({ disruptionTarget }));
  }
}

function withoutTarget({ isOomKilled, isWitnessed, caller }: Evidence): Verdict {
  if (isOomKilled) return verdict('OOMKill', REASONS.oomKilled({}));
  return isWitnessed
    ? verdict('Deletion', REASONS.deleted({ caller }), caller)
    : verdict('Unknown', REASONS.unwitnessed({}));
}

function evictedThroughApi({ agent, rescheduler, queues, node, caller }: Evidence): Verdict {
  if (agent !== undefined) return verdict('Eviction', agent, AGENT);
  if (rescheduler !== undefined) return verdict('Rescheduling', rescheduler, RESCHEDULER);
  if (queues !== undefined) return verdict('Reclaim', queues, QUEUES);
  if (node?.isCordoned === true) return verdict('Drain', REASONS.drained({}), caller);
  return verdict('Unknown', REASONS.requested({ caller }), caller);
}

/**
 * `status.reason` distinguishes the causes that share one DisruptionTarget. `pkg/kubelet` eviction, preemption and
 * nodeshutdown.
 */
function endedByKubelet({ statusReason = '' }: Evidence): Verdict {
  switch (statusReason) {
    case 'Evicted':
      return verdict('KubeletEviction', REASONS.kubeletEvicted({}), KUBELET);
    case 'Preempting':
      return verdict('KubeletEviction', REASONS.criticalPod({}), KUBELET);
    case 'Terminated':
    case 'NodeShutdown':
      return verdict('NodeLost', REASONS.nodeShutdown({}), KUBELET);
    default:
      return verdict('Unknown', REASONS.kubeletEnded({ statusReason }));
  }
}

function verdict(cause: Verdict['cause'], because: Because, requestedBy?: string): Verdict {
  return { cause, because, requestedBy };
}
