import { WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import type { RuleLimit } from '#shared/domain/priority-rules/fit-rules.ts';

/** All messages of the webhook except those of its decisions, which are in shared/domain/admission/messages. */

/** A failure of the HTTP request: answered with a status code if there is no review to answer. */
export interface HttpFailure {
  readonly code: 400 | 404 | 405 | 413 | 415 | 429 | 500;
  readonly message: string;
}

/** What is tried when the webhook writes its own entries, as an error says it. */
export function registering({ kind }: { readonly kind: string }): string {
  return `register in ${kind} "${WEBHOOK_CONFIGURATION}"`;
}

/** Requests that are not, or not yet, a readable AdmissionReview. */
export const FAILURES = {
  pathNotFound: () => ({ code: 404, message: 'Path not found' }),
  wrongMethod: () => ({ code: 405, message: 'Method not allowed: expected POST' }),
  wrongContentType: () => ({ code: 415, message: 'Unsupported content type: expected application/json' }),
  encoded: () => ({ code: 415, message: 'Unsupported content encoding: expected none' }),
  notJson: () => ({ code: 400, message: 'Request body is not valid JSON' }),
  notObject: () => ({ code: 400, message: 'Request body is not an AdmissionReview: expected an object' }),
  otherKind: (apiVersion: string) => ({
    code: 400,
    message: `Request body is not an AdmissionReview: expected apiVersion "${apiVersion}" and kind "AdmissionReview"`,
  }),
  noUid: (longest: number) => ({
    code: 400,
    message: `AdmissionReview has no usable request.uid: expected a text of 1 to ${longest} characters`,
  }),
  tooLarge: (maxBytes: number) => ({ code: 413, message: `Request body is too large: at most ${maxBytes} bytes` }),
  tooManyValues: (values: number) => ({ code: 413, message: `Request body is too large: at most ${values} values` }),
  tooDeep: (depth: number) => ({ code: 400, message: `Request body is nested deeper than ${depth}` }),
  tooManyAtOnce: () => ({ code: 429, message: 'Too many large requests at once' }),
  tooSlow: () => ({ code: 429, message: 'Request waited too long to be read' }),
  late: () => ({ code: 429, message: 'Not decided in time' }),
} as const satisfies Record<string, (value: never) => HttpFailure>;

/** Messages of conditions of PriorityPolicies, PriorityQuotas and PriorityRules. */
export const CONDITIONS = {
  everySettingWorks: () => 'Every setting can take effect',
  noConflict: () => 'No conflict with other policies',
  noNamespaceSelected: () => 'No namespace is selected',
  enforcedEverywhere: () => 'Enforced in all selected namespaces',
  notEnforced: (gaps: readonly string[]) => `Not enforced ${gaps.join('; nor ')}`,
  gapExempt: () => 'in namespaces that are always exempt',
  gapIgnored: (label: string) => `where label ${label} is set`,
  gapUnlabelled: (label: string) => `where label ${label} is missing`,
  notCounted: () => 'Pods have not been counted yet',
  allPodsRead: () => 'Every pod is charged what it requests, or the default of the quota',
  unstatedValues: (containers: ReadonlyMap<string, number>) =>
    `Charged nothing for values that containers do not state: ${Array.from(containers, ([name, count]) => `${name} of ${count} containers`).join(', ')}; recreate their pods or set defaultRequest`,
  unreadablePods: (names: readonly string[]) =>
    `These pods cannot be read, so each is charged the full limit: ${names.join(', ')}`,
  nothingToEnforce: () => 'The API server enforces nothing in this policy; its settings take effect in the webhook',
  onlyByWebhook: (why: string) => `Enforced only by the webhook: ${why}`,
  earlierRules: (problem: string | undefined) =>
    `The API server still enforces previously compiled rules${problem === undefined ? '' : `: ${problem}`}`,
  notInstalled: (missing: readonly string[]) => `Not installed: ${missing.join(', ')}`,
  enforced: (verb: 'warns about' | 'refuses') => `The API server ${verb} violations, even while the webhook is down`,
  thresholdsConfirmed: () => 'No node keeps a threshold from being enforced',
  thresholdHeld: (v: {
    readonly rule: string;
    readonly nodes: readonly string[];
    readonly generation: number;
    readonly seconds: number;
  }) =>
    `${v.rule} was already met on ${nodesText(v.nodes)} when generation ${v.generation} introduced it; no other node begins to enforce it until it has not been met there for ${v.seconds} s, the policy is changed again, or the policy is annotated plimsoll.dev/confirmed-generation: "${v.generation}"`,
  compiled: (policies: number) => `Compiled from ${policies} PriorityPolicies`,
} as const;

function nodesText([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? `node ${first}` : `node ${first} and ${others.length} more`;
}

/** Why rules of policies are not enforced by the API server: reason and text of the condition. */
export const RULE_LIMITS: Readonly<Record<RuleLimit, readonly [reason: string, text: string]>> = {
  bytes: ['TooLarge', 'the rules of all policies together are too large for one object'],
  cost: ['TooCostly', 'evaluating the rules of all policies for one pod would exceed the cost limit of the API server'],
  groups: ['TooManyGroups', 'policies name too many different groups'],
};

/** Notes of Events. */
export const EVENTS = {
  refusedInNamespace: (namespace: string, text: string) => `Refused pods in namespace ${namespace}: ${text}`,
  refusedByQuota: (v: Readonly<Record<'priorityClassName' | 'namespace' | 'resource' | 'hard', string>>) =>
    `Refused pods of class ${v.priorityClassName} in namespace ${v.namespace}: ${v.resource} is limited to ${v.hard}`,
  namespaceLeftQuota: (namespace: string, label: string) =>
    `Namespace ${namespace} has left the quota: it needs label ${label} and the labels of namespaceSelector`,
  keptPod: (what: 'preemption' | 'removal', caller: string, text: string) =>
    `Refused ${what}${caller === '' ? '' : ` by ${caller}`}: ${text}`,
} as const;

/** What happened, in the log; details are fields. */
export const LOG = {
  refused: 'Request refused',
  allowed: 'Request allowed',
  unread: 'Request answered without being read',
  uidReused: 'Request uid reused with different content',
  decisionFailed: 'Decision failed',
  certificateReplaced: 'Certificate replaced',
  clientAuthorityReplaced: 'Client CA replaced',
  certificateRefreshFailed: 'Certificate refresh failed',
  trustNotVerified: 'Certificate trust not verified',
  registered: 'Webhook registered',
  registrationFailed: 'Registration failed',
  entriesNarrowed: 'Webhook asked only about pods that the API server leaves to it',
  entriesWidened: 'Webhook asked about every pod',
  entriesFailed: 'Update of the webhook entries for pods failed',
  conditionsFailed: 'Condition update failed',
  thresholdHeld: 'Threshold held on all nodes',
  thresholdsFailed: 'Threshold update failed',
  podWatchFailed: 'Pod watch failed',
  podWatchInterrupted: 'Pod watch interrupted',
  podListFailed: 'Pod list failed',
  podViewUnverified: 'Verification of the pod view failed',
  reconciliationFailed: 'Quota reconciliation failed',
  ledgerPruned: 'Ledger fields pruned: the CustomResourceDefinition is outdated',
  ruleComparisonFailed: 'Comparison of priority rules failed',
  ruleUpdateFailed: 'Update of priority rules failed',
} as const;

/** Errors: at the start, in the log and in /readyz. */
export const ERRORS = {
  notRegistered: ({ kind }: { readonly kind: string }) => `cannot read ${kind} "${WEBHOOK_CONFIGURATION}": not found`,
  noHandshake: (ms: number) => `cannot accept connection: no TLS handshake within ${ms} ms`,
  sharedAuthority: () => 'cannot update the shared CA: other replicas wrote first',
  notYetValid: (since: string) => `valid only from ${since}`,
  expired: (at: string, cause: string | undefined) => `expired at ${at}${cause === undefined ? '' : `: ${cause}`}`,
  untrusted: (server: string, cause: string) =>
    `clients that connect to "${server}" do not trust the served certificate: ${cause}`,
  uncountedQuotas: () => 'quotas have not been counted yet',
  list: (what: string, cause: string) => `cannot list ${what}: ${cause}`,
  writeConditions: (kind: string, name: string, cause: string) =>
    `cannot write conditions of ${kind} "${name}": ${cause}`,
  readFields: (what: string, field: string, cause: string) => `cannot read ${what}: ${field}: ${cause}`,
  missing: (what: string) => `${what} not found`,
  cachesNotSynced: (names: readonly string[]) => `cannot decide: caches not synced yet: ${names.join(', ')}`,
  tooManyReads: (most: number) => `${most} reads are already in progress`,
  tooLate: (ms: number) => `not done within ${ms} ms`,
  tooManyWaiting: () => 'too many requests are waiting for the API server',
  ledPerhapsByAnother: () => 'cannot write PriorityRules: another replica may lead now',
  followPods: (revision: string) => `cannot follow pods: expected a decimal resourceVersion, got "${revision}"`,
} as const;
