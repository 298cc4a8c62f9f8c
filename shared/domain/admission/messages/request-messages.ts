import type { Message } from '#shared/domain/admission/decision.ts';
import type { WithCause, OfPolicy } from './priority-messages.ts';

/** Sentences about requests that cannot be decided, and those without a decision. */
export const REQUEST_MESSAGES = {
  unreadableReview: {
    code: 'MalformedRequest',
    status: 400,
    text: ({ cause }: WithCause) => cause,
  },
  reviewTooLarge: { code: 'ReviewTooLarge', status: 413, text: ({ cause }: WithCause) => cause },
  malformed: {
    code: 'MalformedRequest',
    status: 400,
    text: ({ field, cause }: { readonly field: string } & WithCause) => `${field}: ${cause}`,
  },
  unexpectedResource: {
    code: 'UnknownResource',
    status: 400,
    text: ({ expected, given }: { readonly expected: string; readonly given: string }) =>
      `request.resource: expected ${expected}, got "${given}"`,
  },
  overloaded: {
    code: 'Overloaded',
    status: 429,
    retryAfterSeconds: 1,
    text: ({ cause }: WithCause) => `${cause}; try again`,
  },
  namespaceUnknown: {
    code: 'NamespaceUnknown',
    status: 429,
    retryAfterSeconds: 1,
    text: ({ namespace, cause }: { readonly namespace: string } & WithCause) =>
      `cannot read namespace \`${namespace}\`, whose policies are not known yet: ${cause}; try again`,
  },
  changesNoPriority: {
    code: 'NothingToDecide',
    status: 200,
    text: ({ operation }: { readonly operation: string }) => `${operation} changes no priority`,
  },
  changesNoClass: { code: 'NothingToDecide', status: 200, text: () => 'CONNECT changes no class' },
  removesNoPod: {
    code: 'NothingToDecide',
    status: 200,
    text: ({ operation }: { readonly operation: string }) => `${operation} removes no pod`,
  },
  templateUnchanged: { code: 'NothingToDecide', status: 200, text: () => 'the template is unchanged' },
  noTemplate: { code: 'NothingToDecide', status: 200, text: () => 'there is no template' },
} as const satisfies Record<string, Message<never>>;

/** Sentences about evictions and deletions. */
export const DISRUPTION_MESSAGES = {
  disruptionAccepted: {
    code: 'DisruptionAccepted',
    status: 200,
    text: ({ kind }: { readonly kind: string }) => `no rule forbids this ${kind}`,
  },
  neverDeletes: {
    code: 'DisruptionUnwanted',
    status: 403,
    text: () => 'Plimsoll removes pods by eviction and never deletes them',
  },
  unboundToken: {
    code: 'DisruptionOnOtherNode',
    status: 403,
    text: () => "the agent's token must be bound to a pod on a node",
  },
  otherNode: {
    code: 'DisruptionOnOtherNode',
    status: 403,
    text: ({ callerNode, node }: { readonly callerNode: string; readonly node: string }) =>
      `the agent of node \`${callerNode}\` may evict only pods on its own node, but this pod is on ${node === '' ? 'no node' : `node \`${node}\``}`,
  },
  policyInDryRun: {
    code: 'DisruptionUnwanted',
    status: 403,
    text: ({ policy }: OfPolicy) =>
      `NodePressurePolicy \`${policy}\` has mode DryRun, so no pod on this node is evicted`,
  },
  otherUid: {
    code: 'DisruptionOfOtherPod',
    status: 409,
    text: ({ expected, uid }: { readonly expected: string; readonly uid: string }) =>
      `the eviction must have the pod's UID as precondition; it has \`${expected}\`, but this pod's UID is \`${uid}\``,
  },
  noGracePeriod: {
    code: 'DisruptionUnwanted',
    status: 403,
    text: ({ seconds }: { readonly seconds: number }) =>
      `gracePeriodSeconds of the eviction must be greater than 0, got ${seconds}`,
  },
  podIsProtected: {
    code: 'DisruptionOfProtectedPod',
    status: 403,
    text: ({ protection }: { readonly protection: string }) => protection,
  },
  ownerForbidsPreemption: {
    code: 'DisruptionUnwanted',
    // After a 403, kube-scheduler retries 36 times a second.
    status: 429,
    retryAfterSeconds: 5,
    text: () => "the pod's owner asked that it never be preempted",
  },
  podUnreadableToUs: {
    code: 'DisruptionUnwanted',
    status: 403,
    text: ({ field, cause }: { readonly field: string } & WithCause) => `cannot read the pod: ${field}: ${cause}`,
  },
  podUnreadable: {
    code: 'DisruptionAccepted',
    status: 200,
    text: ({ field, cause }: { readonly field: string } & WithCause) => `cannot read the pod: ${field}: ${cause}`,
  },
  noSuchPod: { code: 'NothingToDecide', status: 200, text: () => 'there is no such pod' },
  noSuchPodNoUid: {
    code: 'DisruptionOfOtherPod',
    status: 409,
    text: () => 'there is no such pod, and the eviction has no UID precondition',
  },
  budgetSpent: {
    code: 'DisruptionBudgetSpent',
    status: 429,
    // The API server's own words.
    text: () => "Cannot evict pod as it would violate the pod's disruption budget.",
  },
  limitReached: {
    code: 'DisruptionLimitReached',
    status: 429,
    text: ({ limit }: { readonly limit: string }) => limit,
  },
  disruptionLimitReached: {
    code: 'DisruptionLimitReached',
    status: 429,
    text: (exceeded: ExceededLimit) => `${limitNamed(exceeded.limit)}: ${LIMITS[exceeded.what](exceeded)}`,
  },
  budgetAccepted: { code: 'NothingToDecide', status: 200, text: () => 'the budget may allow an eviction' },
  budgetForbids: {
    code: 'BudgetForbidsEvictions',
    status: 403,
    text: (v: { readonly field: string; readonly value: string | number; readonly pods: number }) =>
      `this budget forbids every eviction of its pods: ${v.field} is ${v.value}, and it selects ${v.pods} pods; allow at least one with maxUnavailable 1`,
  },
  budgetOverlaps: {
    code: 'BudgetOverlaps',
    status: 403,
    text: (v: { readonly other: string; readonly pods: number }) =>
      `this budget selects ${v.pods} of the pods of budget ${v.other}, and the API server evicts no pod under two budgets; select other pods`,
  },
  evictionUnclear: {
    code: 'DisruptionUnclear',
    status: 429,
    retryAfterSeconds: 1,
    text: ({ cause }: WithCause) => `cannot decide about the eviction: ${cause}; try again`,
  },
} as const satisfies Record<string, Message<never>>;

/** A limit of disruptions that an eviction would exceed, with its numbers. */
interface ExceededLimit {
  /** `limit/NAME`, or `owner/UID` for a default limit. */
  readonly limit: string;
  readonly what: 'window' | 'share' | 'minAvailable' | 'full';
  readonly most: number;
  readonly rate: number;
  readonly window: string;
  /** In seconds. */
  readonly retryAfter: number;
}

const LIMITS: Readonly<Record<ExceededLimit['what'], (exceeded: ExceededLimit) => string>> = {
  window: ({ most, rate, window, retryAfter }) =>
    most === 0
      ? 'no pod may be removed'
      : `at most ${most} pods may be removed in ${window}; ${rate} were; try again in ${retryAfter} s`,
  share: ({ most, rate, window, retryAfter }) =>
    `this caller may remove at most ${most} pods in ${window}; it removed ${rate}; try again in ${retryAfter} s`,
  minAvailable: ({ most, rate }) => `at least ${most} pods must stay available; ${rate} are`,
  full: ({ most, retryAfter }) =>
    `the account of this namespace is full (${most} entries); try again in ${retryAfter} s`,
};

function limitNamed(key: string): string {
  if (key === '') return 'DisruptionAccount';
  return key.startsWith('limit/')
    ? `DisruptionLimit \`${key.slice('limit/'.length)}\``
    : "default limit of the pod's owner";
}
