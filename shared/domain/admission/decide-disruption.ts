import type { Protection } from '#shared/domain/eviction/node-protection.ts';
import { protectionOf } from '#shared/domain/eviction/protection.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { because, type AdmissionCode } from './admission-code.ts';
import { allow, refuse, type AdmissionDecision, type Refused } from './decision.ts';

/** A request to remove a pod by eviction or deletion. */
export interface Disruption {
  readonly kind: 'eviction' | 'deletion';
  /**
   * `agent`: our agent, which is bound to a node. `plimsoll`: another account of ours. `scheduler`: kube-scheduler,
   * which deletes pods to preempt them.
   */
  readonly caller: 'agent' | 'plimsoll' | 'scheduler' | 'other';
  /** The node of the pod that the caller's token is bound to. */
  readonly callerNode: string | undefined;
  readonly pod: Pod;
  /** The UID precondition of the request. */
  readonly expectedUid: string | undefined;
  readonly gracePeriodSeconds: number | undefined;
  /** What the pod's owner asked for, by annotation of the pod or its class. */
  readonly wishes: OwnerWishes;
  readonly protectedNamespaces: ReadonlySet<string>;
  /** Up to this priority, the opt-out from eviction is honoured. */
  readonly optOutCeiling: number;
  /** The NodePressurePolicy that applies to the pod's node. */
  readonly policy: Protection['policy'];
}

export interface OwnerWishes {
  readonly mayBeEvicted: boolean;
  readonly mayBePreempted: boolean;
}

const ASK_AGAIN_SECONDS = 5;

/**
 * Decides whether a pod may be removed. Our own accounts must follow the rules of the agent
 * (docs/guides/agent-never.md), the scheduler must respect the owner's opt-out; other callers are allowed and recorded.
 * Nothing is counted here, because the API server calls up to three times for one deletion.
 */
export function decideDisruption(disruption: Disruption): AdmissionDecision {
  switch (disruption.caller) {
    case 'agent':
    case 'plimsoll':
      return ownLaws(disruption);
    case 'scheduler':
      return preemption(disruption);
    case 'other':
      return accepted(disruption);
  }
}

/** A rule for our own accounts: returns the refusal of a disruption that breaks it. */
type Law = (disruption: Disruption) => Refused | undefined;

const LAWS: readonly Law[] = [neverDeletes, staysOnItsNode, keepsToDryRun, meansThisPod, leavesGrace, sparesProtected];

function ownLaws(disruption: Disruption): AdmissionDecision {
  for (const law of LAWS) {
    const refusal = law(disruption);
    if (refusal !== undefined) return refusal;
  }
  return accepted(disruption);
}

function neverDeletes(disruption: Disruption): Refused | undefined {
  if (disruption.kind === 'eviction') return undefined;
  return refusal(disruption, 403, 'DisruptionUnwanted', 'Plimsoll removes pods by eviction and never deletes them');
}

/** The token of one node must not allow evictions on others. */
function staysOnItsNode(disruption: Disruption): Refused | undefined {
  const { caller, callerNode, pod } = disruption;
  if (caller !== 'agent') return undefined;
  if (callerNode === undefined || callerNode === '') {
    return refusal(disruption, 403, 'DisruptionOnOtherNode', "the agent's token must be bound to a pod on a node");
  }
  const { nodeName = '' } = pod.spec;
  if (callerNode === nodeName) return undefined;
  const place = nodeName === '' ? 'no node' : `node \`${nodeName}\``;
  const text = `the agent of node \`${callerNode}\` may evict only pods on its own node, but this pod is on ${place}`;
  return refusal(disruption, 403, 'DisruptionOnOtherNode', text);
}

/**
 * An agent that follows its policy would not evict here; without a policy, the agent's own setting decides, which is
 * not known here.
 */
function keepsToDryRun(disruption: Disruption): Refused | undefined {
  const { caller, policy } = disruption;
  if (caller !== 'agent' || policy?.mode !== 'DryRun') return undefined;
  const text = `NodePressurePolicy \`${policy.name}\` has mode DryRun, so no pod on this node is evicted`;
  return refusal(disruption, 403, 'DisruptionUnwanted', text);
}

function meansThisPod(disruption: Disruption): Refused | undefined {
  const { expectedUid, pod } = disruption;
  if (expectedUid === pod.uid) return undefined;
  const text = `the eviction must have the pod's UID as precondition; it has \`${expectedUid ?? ''}\`, but this pod's UID is \`${pod.uid}\``;
  return refusal(disruption, 409, 'DisruptionOfOtherPod', text);
}

function leavesGrace(disruption: Disruption): Refused | undefined {
  const { gracePeriodSeconds } = disruption;
  if (gracePeriodSeconds === undefined || gracePeriodSeconds > 0) return undefined;
  const text = `gracePeriodSeconds of the eviction must be greater than 0, got ${gracePeriodSeconds}`;
  return refusal(disruption, 403, 'DisruptionUnwanted', text);
}

function sparesProtected(disruption: Disruption): Refused | undefined {
  const { pod, wishes } = disruption;
  const protection = protectionOf(pod, { ...disruption, wantsToStay: () => !wishes.mayBeEvicted });
  return protection && refusal(disruption, 403, 'DisruptionOfProtectedPod', protection.text);
}

/** Refuses with 429: after a 403, kube-scheduler retries 36 times a second. */
function preemption(disruption: Disruption): AdmissionDecision {
  if (disruption.kind === 'eviction' || disruption.wishes.mayBePreempted) return accepted(disruption);
  const text = "the pod's owner asked that it never be preempted";
  return {
    kind: 'refused',
    code: 429,
    because: because('DisruptionUnwanted', text, factsOf(disruption)),
    warnings: [],
    retryAfterSeconds: ASK_AGAIN_SECONDS,
  };
}

function accepted(disruption: Disruption): AdmissionDecision {
  return allow(because('DisruptionAccepted', `no rule forbids this ${disruption.kind}`, factsOf(disruption)));
}

function refusal(disruption: Disruption, code: 403 | 409, reason: AdmissionCode, text: string): Refused {
  return refuse(code, because(reason, text, factsOf(disruption)));
}

function factsOf({ kind, caller, callerNode, pod }: Disruption) {
  const { namespace, name, uid, spec } = pod;
  const node = { ...(callerNode !== undefined && { callerNode }), node: spec.nodeName ?? '' };
  return { kind, caller, namespace, name, uid, priority: spec.priority ?? 0, ...node };
}
