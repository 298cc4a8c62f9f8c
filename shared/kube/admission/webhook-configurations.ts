import type { KubeObject } from '#shared/kube/kube-object.ts';
import { WEBHOOK_CONFIGURATION, WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';
import {
  byOneOf,
  condition,
  DEFAULT_OR_DELETION,
  DISRUPTS,
  MAY_BE_EXEMPT,
  type MatchCondition,
  NOT_A_CONTROLLER,
  NOT_A_NODE,
  NOT_A_RESIZE_BY_AGENTS,
  NOT_OURSELVES,
  OURSELVES,
  OWN_ACCOUNTS,
  SCHEDULERS,
} from './cel-expressions.ts';
import { managedName, NAMESPACE_SWITCHES, type NamespaceSwitch, selecting } from '#shared/kube/namespace-switches.ts';
import { judgedNamespaces } from './judged-namespaces.ts';

/** How the API server reaches the webhook: a Service in the cluster, or a URL outside of it. */
export type WebhookTarget =
  | { readonly kind: 'service'; readonly namespace: string; readonly name: string; readonly port: number }
  | { readonly kind: 'url'; readonly url: string };

export interface RegistrationOptions {
  readonly target: WebhookTarget;
  /** PEM CA certificates of the webhook's own certificate; omitted if another program fills them in. */
  readonly caBundlePem?: string;
  /** What happens to a pod that the validating entry cannot judge; the quota entry is always `Fail`. */
  readonly failurePolicy: 'Ignore' | 'Fail';
  /** Users that the entries for evictions and deletions apply to, besides the scheduler and our own accounts. */
  readonly gatedCallers: readonly string[];
}

/** Paths of the webhook by question. */
export const WEBHOOK_PATHS = {
  mutate: '/mutate',
  validate: '/validate',
  quota: '/validate/quota',
  templates: '/validate/templates',
  classes: '/validate/classes',
  evictions: '/validate/evictions',
  deletions: '/validate/deletions',
  limits: '/validate/disruption-limits',
  limitedDeletions: '/validate/limited-deletions',
} as const;

interface WebhookEntry {
  readonly name: string;
  readonly path: string;
  readonly rules: readonly unknown[];
  readonly failurePolicy: 'Ignore' | 'Fail';
  readonly timeoutSeconds: number;
  readonly sideEffects: 'None' | 'NoneOnDryRun';
  readonly namespaceSelector?: { readonly matchExpressions: readonly unknown[] };
  readonly matchConditions: readonly MatchCondition[];
}

/**
 * The API server waits longer than an answer takes: on a machine without spare processor time, a late answer means that
 * the request is let in.
 */
const TIMEOUT_SECONDS = 5;
/** For entries without whose answer a request is refused; the Kubernetes default. */
const DECIDING_TIMEOUT_SECONDS = 10;
/** For removals that go on without an answer: preemption waits for each victim, and a collection for each of its pods. */
const REMOVAL_TIMEOUT_SECONDS = 2;
/** Nothing is refused there; the record of removed pods counts what has no answer. */
const COUNTING_TIMEOUT_SECONDS = 1;
/** Entries that decide and can do without an answer wait no longer than this. */
export const SHORTEST_TIMEOUT_SECONDS = Math.min(TIMEOUT_SECONDS, DECIDING_TIMEOUT_SECONDS);

export const CREATED_PODS = rule('', ['pods'], ['CREATE']);
export const UPDATED_PODS = rule('', ['pods'], ['UPDATE']);
/** Other doors through which the annotations of a pod could be changed. */
export const UPDATED_POD_PARTS = rule('', ['pods/status', 'pods/resize', 'pods/ephemeralcontainers'], ['UPDATE']);
export const RESIZED_PODS = rule('', ['pods/resize'], ['UPDATE']);
export const WRITTEN_PODS = rule('', ['pods'], ['CREATE', 'UPDATE']);
/** Workloads that create pods from a template. */
export const WRITTEN_TEMPLATES = [
  rule('apps', ['deployments', 'statefulsets', 'daemonsets', 'replicasets'], ['CREATE', 'UPDATE']),
  rule('batch', ['jobs', 'cronjobs'], ['CREATE', 'UPDATE']),
  rule('', ['replicationcontrollers'], ['CREATE', 'UPDATE']),
];
/**
 * Groups of pods, and of such groups, that the scheduler places together, in any version; a rule for a kind that a
 * cluster does not serve has no effect.
 */
export const POD_GROUPS = ['podgroups', 'compositepodgroups'];
export const CREATED_POD_GROUPS = inAnyVersion(rule('scheduling.k8s.io', POD_GROUPS, ['CREATE']));
export const CREATED_WORKLOADS = inAnyVersion(rule('scheduling.k8s.io', ['workloads'], ['CREATE']));
/** What a budget forbids depends on its pods, which only the webhook can count. */
const WRITTEN_BUDGETS = rule('policy', ['poddisruptionbudgets'], ['CREATE', 'UPDATE']);
const EVICTIONS = rule('', ['pods/eviction'], ['CREATE']);

/** The MutatingWebhookConfiguration and the ValidatingWebhookConfiguration, both named `plimsoll`. */
export function webhookConfigurations(options: RegistrationOptions): readonly [KubeObject, KubeObject] {
  return [
    configuration('MutatingWebhookConfiguration', [
      { ...wireEntry(mutatingEntry(), options), reinvocationPolicy: 'IfNeeded' },
    ]),
    configuration(
      'ValidatingWebhookConfiguration',
      validatingEntries(options).map((entry) => wireEntry(entry, options)),
    ),
  ];
}

function mutatingEntry(): WebhookEntry {
  return {
    name: WEBHOOK_ENTRIES.priority,
    path: WEBHOOK_PATHS.mutate,
    rules: [CREATED_PODS],
    // The mutating entry fails open: the validating entry judges the final state.
    failurePolicy: 'Ignore',
    timeoutSeconds: TIMEOUT_SECONDS,
    sideEffects: 'None',
    namespaceSelector: judgedNamespaces(),
    matchConditions: [NOT_A_NODE, NOT_OURSELVES],
  };
}

function validatingEntries({ failurePolicy, gatedCallers }: RegistrationOptions): readonly WebhookEntry[] {
  // A refusal may be reported in an Event, but not the refusal of a dry run.
  const shared = { failurePolicy, timeoutSeconds: TIMEOUT_SECONDS, sideEffects: 'NoneOnDryRun' } as const;
  const others = [...SCHEDULERS, ...gatedCallers];
  return [...entriesLettingIn(shared), entryOfClasses(shared), ...entriesOfRemovals(shared, others)];
}

/** Common to all validating entries. */
type SharedParts = Pick<WebhookEntry, 'failurePolicy' | 'timeoutSeconds' | 'sideEffects'>;

function entriesLettingIn(shared: SharedParts): readonly WebhookEntry[] {
  const isNeeded = shared.failurePolicy === 'Fail';
  // What an entry that is ignored would refuse, the API server's own policies refuse.
  const deciding = { ...shared, timeoutSeconds: isNeeded ? DECIDING_TIMEOUT_SECONDS : TIMEOUT_SECONDS };
  return [
    {
      ...deciding,
      name: WEBHOOK_ENTRIES.priority,
      path: WEBHOOK_PATHS.validate,
      rules: [CREATED_PODS],
      namespaceSelector: judgedNamespaces(),
      matchConditions: [NOT_A_NODE, NOT_OURSELVES],
    },
    ...whereOn(NAMESPACE_SWITCHES.quotas, {
      ...shared,
      timeoutSeconds: DECIDING_TIMEOUT_SECONDS,
      name: WEBHOOK_ENTRIES.quota,
      path: WEBHOOK_PATHS.quota,
      rules: [CREATED_PODS, RESIZED_PODS, CREATED_POD_GROUPS],
      failurePolicy: 'Fail',
      matchConditions: [NOT_A_NODE, NOT_A_RESIZE_BY_AGENTS],
    }),
    {
      ...deciding,
      name: WEBHOOK_ENTRIES.templates,
      path: WEBHOOK_PATHS.templates,
      rules: [...WRITTEN_TEMPLATES, CREATED_POD_GROUPS, CREATED_WORKLOADS, WRITTEN_BUDGETS],
      namespaceSelector: judgedNamespaces(),
      matchConditions: [
        NOT_OURSELVES,
        NOT_A_CONTROLLER,
        condition('spec-changed', "request.operation != 'UPDATE' || object.spec != oldObject.spec"),
      ],
    },
  ];
}

function entryOfClasses(shared: SharedParts): WebhookEntry {
  return {
    ...shared,
    name: WEBHOOK_ENTRIES.classes,
    path: WEBHOOK_PATHS.classes,
    rules: [rule('scheduling.k8s.io', ['priorityclasses'], ['CREATE', 'UPDATE', 'DELETE'], 'Cluster')],
    // A policy that names a missing class can be corrected later; an administrator who cannot change classes is
    // blocked.
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    matchConditions: [DEFAULT_OR_DELETION],
  };
}

function entriesOfRemovals(shared: SharedParts, others: readonly string[]): readonly WebhookEntry[] {
  const isNeeded = shared.failurePolicy === 'Fail';
  const removal = { ...shared, timeoutSeconds: isNeeded ? TIMEOUT_SECONDS : REMOVAL_TIMEOUT_SECONDS };
  return [
    {
      ...removal,
      name: WEBHOOK_ENTRIES.evictions,
      path: WEBHOOK_PATHS.evictions,
      rules: [EVICTIONS],
      matchConditions: [byOneOf(others), NOT_OURSELVES],
    },
    {
      ...shared,
      name: WEBHOOK_ENTRIES.ownEvictions,
      path: WEBHOOK_PATHS.evictions,
      rules: [EVICTIONS],
      // Only the webhook can look up a pod's node. Without the call, the token of one node could evict the pods of all
      // others.
      failurePolicy: 'Fail',
      matchConditions: [OURSELVES],
    },
    {
      ...removal,
      name: WEBHOOK_ENTRIES.deletions,
      path: WEBHOOK_PATHS.deletions,
      rules: [rule('', ['pods'], ['DELETE'])],
      matchConditions: [byOneOf([...others, ...OWN_ACCOUNTS]), MAY_BE_EXEMPT],
    },
    ...entriesOfLimits(shared),
  ];
}

/** Only in namespaces that enable it: in all others drains work while the webhook is away. */
function entriesOfLimits(shared: SharedParts): readonly WebhookEntry[] {
  const { limits } = NAMESPACE_SWITCHES;
  return [
    ...whereOn(limits, {
      ...shared,
      name: WEBHOOK_ENTRIES.limitedEvictions,
      path: WEBHOOK_PATHS.limits,
      rules: [EVICTIONS],
      failurePolicy: 'Fail',
      matchConditions: [NOT_OURSELVES],
    }),
    ...whereOn(limits, {
      ...shared,
      name: WEBHOOK_ENTRIES.limitedDeletions,
      path: WEBHOOK_PATHS.limitedDeletions,
      rules: [rule('', ['pods'], ['DELETE'])],
      // A deletion is never refused; the record of removed pods counts those that the webhook did not see.
      failurePolicy: 'Ignore',
      timeoutSeconds: COUNTING_TIMEOUT_SECONDS,
      matchConditions: [NOT_A_NODE, DISRUPTS],
    }),
  ];
}

/** The entry for the label of a part, and the same for the label for all parts. */
function whereOn(part: NamespaceSwitch, entry: WebhookEntry): readonly WebhookEntry[] {
  const { own, managed } = selecting(part);
  return [
    { ...entry, namespaceSelector: judgedNamespaces(...own) },
    { ...entry, name: managedName(entry.name), namespaceSelector: judgedNamespaces(...managed) },
  ];
}

function configuration(kind: string, webhooks: readonly unknown[]): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: {
      name: WEBHOOK_CONFIGURATION,
      labels: {
        'app.kubernetes.io/name': 'plimsoll',
        'app.kubernetes.io/component': 'webhook',
        'app.kubernetes.io/part-of': 'plimsoll',
      },
      annotations: { 'admissions.enforcer/disabled': 'true' },
    },
    webhooks,
  };
}

function wireEntry({ path, ...entry }: WebhookEntry, { target, caBundlePem }: RegistrationOptions) {
  return {
    ...entry,
    clientConfig: {
      ...clientTarget(target, path),
      ...(caBundlePem !== undefined && { caBundle: Buffer.from(caBundlePem).toString('base64') }),
    },
    admissionReviewVersions: ['v1'],
    matchPolicy: 'Equivalent',
  };
}

export function inAnyVersion(versioned: ReturnType<typeof rule>): object {
  return { ...versioned, apiVersions: ['*'] };
}

function clientTarget(target: WebhookTarget, path: string) {
  if (target.kind === 'url') return { url: `${target.url}${path}` };
  const { namespace, name, port } = target;
  return { service: { namespace, name, port, path } };
}

export function rule(
  group: string,
  resources: readonly string[],
  operations: readonly string[],
  scope: 'Namespaced' | 'Cluster' = 'Namespaced',
) {
  return { apiGroups: [group], apiVersions: ['v1'], resources, operations, scope };
}
