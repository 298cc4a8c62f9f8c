import type { Because } from '#shared/domain/base/because.ts';
import type {
  PolicyLimits,
  PriorityClass,
  PriorityClasses,
  PriorityPolicy,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { ClusterState } from './cluster-state.ts';
import type { PodRequest } from './request.ts';

/**
 * What a rule judges: pods, templates of pods, and groups of pods. A template need not name a class: the policy gives
 * one to its pods when they are created. A group gets no default and no substitute; its pods say whether they preempt.
 */
export type Judged = 'pod' | 'template' | 'group';

/**
 * Everything about one rule of PriorityPolicies. The webhook judges by the policies, the API server by the fields that
 * `compiled` makes of them (docs/contributing/decisions/rules-in-api-server.md), in the same words.
 */
export interface PolicyRule {
  readonly judges: readonly Judged[];
  /** Whether a policy has the rule. */
  readonly isSet: (policy: PriorityPolicy) => boolean;
  /** Why the webhook refuses a request; `undefined` if it satisfies the rule. */
  readonly breaks: (request: PodRequest, policy: PriorityPolicy, cluster: ClusterState) => Because | undefined;
  /**
   * The same for a template whose class does not exist, under a policy for users or groups. Once the class exists, the
   * pods are checked without the user, so the class's priority must not be left open now.
   */
  readonly breaksUnknown?: (request: PodRequest, policy: PriorityPolicy) => Because | undefined;
  /** The fields of an entry of PriorityRules that `cel` reads. */
  readonly compiled?: (limits: PolicyLimits) => Partial<CompiledLimits>;
  readonly cel: (scope: CelScope) => CelRule;
  /** Why pods of an existing class break the rule, as the end of a sentence about the class. */
  readonly refuses?: (given: PriorityClass, policy: PriorityPolicy) => string | undefined;
  /** Settings that can never take effect, or that refuse everyone. */
  readonly problems?: (policy: PriorityPolicy, review: PolicyReviewer) => readonly string[];
  /** Conflicts with another policy for the same pods, and which of both applies. */
  readonly conflicts?: (pair: PolicyPair) => readonly string[];
}

/** Limits as an entry of PriorityRules has them. */
export interface CompiledLimits {
  readonly allowedPriorityClassNames?: readonly string[];
  /** The allowed classes, for messages. */
  readonly allowedText?: string;
  readonly maxPriority?: number;
  readonly preemption: PolicyLimits['preemption'];
  readonly requireQuotaFor?: readonly string[];
  readonly runOn?: Exclude<PolicyLimits['runOn']['room'], 'Requested'>;
  readonly sparePriorityClassNames?: readonly string[];
}

/** What the API server judges with one expression. */
export interface CelScope {
  readonly judged: Judged;
  /** The class may be one that does not exist: its value is then unknown. */
  readonly mayBeUnknown: boolean;
  /** The label by which namespaces with enforced quotas are selected. */
  readonly quotaLabel: string;
}

/**
 * A rule as CEL over `rule`, an entry of PriorityRules, and the variables of shared/kube/admission/rule-expressions.ts.
 * A field of `rule` is read only if it is known to be there: a failed expression lets the object in.
 */
export interface CelRule {
  /** Whether the rule is broken. */
  readonly fault: string;
  readonly sentence: string;
  /** The sentence is a `?:`, which CEL only takes as the last branch of another one. */
  readonly isChoice?: boolean;
}

/** Begins a sentence about a policy. */
export const CEL_POLICY = "'policy `' + rule.policy + '` '";
/** Says that the class does not exist. */
export const CEL_MISSING = "variables.shownClass + ' does not exist'";

/** A fault that a class which does not exist has, too. */
export function celOrUnknown({ mayBeUnknown }: CelScope, fault: string): string {
  return mayBeUnknown ? `(!variables.isKnown || ${fault})` : fault;
}

/** The priority of the pod as part of a sentence, or that its class does not exist. */
export function celPriority({ mayBeUnknown }: CelScope): string {
  const known = "variables.shownPod + ' has ' + string(variables.priority)";
  return mayBeUnknown ? `(variables.isKnown ? ${known} : ${CEL_MISSING})` : known;
}

/** How a policy is reviewed. */
export interface PolicyReviewer {
  readonly classes: PriorityClasses;
  /** Why a pod that names this class would always be refused by the policy; its substitute is what is judged. */
  readonly whyRefused: (named: PriorityClass) => string | undefined;
}

/** Two policies that apply to the same pods. */
export interface PolicyPair {
  readonly policy: PriorityPolicy;
  readonly other: PriorityPolicy;
  readonly classes: PriorityClasses;
  /** Whether the other policy refuses a class that this one gives, unless a substitute replaces it. */
  readonly isRefusedByOther: (given: PriorityClass) => boolean;
}
