import { usesSpareRoom } from '#shared/domain/spare/spare-room.ts';
import type { EvictionUrgency } from '#shared/domain/eviction/eviction-limits.ts';
import { type OptOut, type Protection, protectionOf } from '#shared/domain/eviction/protection.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { type AdmissionDecision, type Refused, allowFor, refuseFor } from './decision.ts';
import { MESSAGES } from './messages.ts';

/** A request to remove a pod by eviction or deletion. */
export interface RemovalRequest {
  readonly kind: 'eviction' | 'deletion';
  /**
   * `agent`: our agent, which is bound to a node. `queues`: the leader of the queues. `plimsoll`: another account of
   * ours. `scheduler`: kube-scheduler, which deletes pods to preempt them.
   */
  readonly caller: 'agent' | 'queues' | 'plimsoll' | 'scheduler' | 'other';
  /** The node of the pod that the caller's token is bound to. */
  readonly callerNode: string | undefined;
  readonly pod: Pod;
  /** The UID precondition of the request. */
  readonly expectedUid: string | undefined;
  readonly gracePeriodSeconds: number | undefined;
  /** Nothing is removed: the request has `dryRun=All`. */
  readonly isDryRun: boolean;
  /** What the pod's owner asked for, by annotation of the pod or its class. */
  readonly wishes: OwnerWishes;
  readonly protectedNamespaces: ReadonlySet<string>;
  /** Up to this priority, the opt-out from eviction is honoured. */
  readonly optOutCeiling: number;
  readonly optOut: OptOut;
  /** How urgent the agent says that its eviction is; absent for other callers and in the mild stage. */
  readonly urgency?: EvictionUrgency | undefined;
  /** The NodePressurePolicy that applies to the pod's node. */
  readonly policy: Protection['policy'];
}

export interface OwnerWishes {
  readonly mayBeEvicted: boolean;
  readonly mayBePreempted: boolean;
}

/**
 * Decides whether a pod may be removed. Our own accounts must follow the rules of the agent
 * (docs/guides/agent-never.md), the scheduler must respect the owner's opt-out; other callers are allowed and recorded.
 * Nothing is counted here, because the API server calls up to three times for one deletion.
 */
export function decideDisruption(disruption: RemovalRequest): AdmissionDecision {
  switch (disruption.caller) {
    case 'agent':
    case 'queues':
    case 'plimsoll':
      return checkOwnAccount(disruption);
    case 'scheduler':
      return preemption(disruption);
    case 'other':
      return accepted(disruption);
  }
}

/** The refusal that follows from the caller and the pod alone, whatever the policy of its node says. */
export function refusalOfCaller(disruption: RemovalRequest): Refused | undefined {
  return neverDeletes(disruption) ?? staysOnItsNode(disruption);
}

/** A rule for our own accounts: returns the refusal of a disruption that breaks it. */
type OwnAccountRule = (disruption: RemovalRequest) => Refused | undefined;

const OWN_ACCOUNT_RULES: readonly OwnAccountRule[] = [
  refusalOfCaller,
  keepsToDryRun,
  meansThisPod,
  leavesGrace,
  protectsPods,
];

function checkOwnAccount(disruption: RemovalRequest): AdmissionDecision {
  for (const rule of OWN_ACCOUNT_RULES) {
    const refusal = rule(disruption);
    if (refusal !== undefined) return refusal;
  }
  return accepted(disruption);
}

function neverDeletes(disruption: RemovalRequest): Refused | undefined {
  return disruption.kind === 'eviction' ? undefined : refuseFor(MESSAGES.neverDeletes, {}, factsOf(disruption));
}

/** The token of one node must not allow evictions on others. */
function staysOnItsNode(disruption: RemovalRequest): Refused | undefined {
  const { caller, callerNode = '', pod } = disruption;
  if (caller !== 'agent') return undefined;
  const facts = factsOf(disruption);
  if (callerNode === '') return refuseFor(MESSAGES.unboundToken, {}, facts);
  const { nodeName: node = '' } = pod.spec;
  return callerNode === node ? undefined : refuseFor(MESSAGES.otherNode, { callerNode, node }, facts);
}

/**
 * An agent that follows its policy requests only dry runs here; without a policy, the agent's own setting decides, which
 * is not known here.
 */
function keepsToDryRun(disruption: RemovalRequest): Refused | undefined {
  const { caller, isDryRun, policy } = disruption;
  if (caller !== 'agent' || isDryRun || policy?.mode !== 'DryRun') return undefined;
  return refuseFor(MESSAGES.policyInDryRun, { policy: policy.name }, factsOf(disruption));
}

function meansThisPod(disruption: RemovalRequest): Refused | undefined {
  const { expectedUid: expected = '', pod } = disruption;
  return expected === pod.uid
    ? undefined
    : refuseFor(MESSAGES.otherUid, { expected, uid: pod.uid }, factsOf(disruption));
}

function leavesGrace(disruption: RemovalRequest): Refused | undefined {
  const { gracePeriodSeconds: seconds } = disruption;
  if (seconds === undefined || seconds > 0) return undefined;
  return refuseFor(MESSAGES.noGracePeriod, { seconds }, factsOf(disruption));
}

function protectsPods(disruption: RemovalRequest): Refused | undefined {
  const { pod, wishes } = disruption;
  const isHonoured = !wishes.mayBeEvicted && !overrulesOptOut(disruption);
  const protection = protectionOf(pod, { ...disruption, wantsToStay: () => isHonoured });
  return protection && refuseFor(MESSAGES.podIsProtected, { protection: protection.text }, factsOf(disruption));
}

/**
 * In the severe stage an opt-out covers only what the pod requested, unless the policy says otherwise; a pod in spare
 * room has requested nothing. Only the agent
 * knows the stage and the pod's usage; its token is bound to this node. For queues an opt-out from eviction by the node
 * is none: by an annotation, a tenant would keep the guarantee of another queue.
 */
function overrulesOptOut({ caller, optOut, urgency, pod }: RemovalRequest): boolean {
  if (caller === 'queues') return true;
  return caller === 'agent' && optOut === 'WithinRequest' && (urgency !== undefined || usesSpareRoom(pod));
}

function preemption(disruption: RemovalRequest): AdmissionDecision {
  if (disruption.kind === 'eviction' || disruption.wishes.mayBePreempted) return accepted(disruption);
  return refuseFor(MESSAGES.ownerForbidsPreemption, {}, factsOf(disruption));
}

function accepted(disruption: RemovalRequest): AdmissionDecision {
  return allowFor(MESSAGES.disruptionAccepted, { kind: disruption.kind }, factsOf(disruption));
}

function factsOf({ kind, caller, callerNode, pod }: RemovalRequest) {
  const { namespace, name, uid, spec } = pod;
  const node = { ...(callerNode !== undefined && { callerNode }), node: spec.nodeName ?? '' };
  return { kind, caller, namespace, name, uid, priority: spec.priority ?? 0, ...node };
}
