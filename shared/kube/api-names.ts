import { errorText } from '#shared/runtime/describe-error.ts';
import { refuseConfiguration } from '#shared/runtime/shutdown.ts';

/*
 * Every name that Plimsoll uses on the wire, each written once.
 * `@public` marks names that are fixed for users although none of our programs reads them yet.
 */

/** @public */
export const API_GROUP = 'plimsoll.dev';
export const API_VERSION = 'plimsoll.dev/v1alpha1';
/** @public */
export const CATEGORY = 'plimsoll';

/** `plimsoll-system` is restricted; `plimsoll-node` holds the agent alone, because hostPath needs privileged. */
export const NAMESPACE_SYSTEM = ownNamespace('PLIMSOLL_NAMESPACE', 'plimsoll-system');
export const NAMESPACE_NODE = ownNamespace('PLIMSOLL_AGENT_NAMESPACE', 'plimsoll-node');

/** Other names are made of these when modules are loaded, which is before a program can check what it is given. */
function ownNamespace(variable: string, usual: string): string {
  try {
    return namespaceIn(process.env, variable, usual);
  } catch (error) {
    return refuseConfiguration([errorText(error)]);
  }
}

/**
 * The namespace that a variable names, or the default. Throws if it is not a valid name, because it becomes part of
 * expressions.
 */
export function namespaceIn(env: NodeJS.ProcessEnv, variable: string, usual: string): string {
  const name = env[variable] ?? usual;
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name;
  const expected = 'the name of a namespace: a-z, 0-9 and "-", at most 63 and no "-" at either end';
  throw new Error(`cannot use ${variable}=${JSON.stringify(name)}: expected ${expected}`);
}

/**
 * Namespaces whose pods no admission entry of ours judges, including our own: a webhook that blocks itself is the
 * classic outage.
 */
export const EXEMPT_NAMESPACES = [
  'kube-system',
  'kube-node-lease',
  'kube-public',
  NAMESPACE_SYSTEM,
  NAMESPACE_NODE,
] as const;

/** Namespaces whose pods Plimsoll never removes, in addition to those that a policy protects or a label exempts. */
export const PROTECTED_NAMESPACES = ['kube-system', NAMESPACE_SYSTEM, NAMESPACE_NODE] as const;

/** Service accounts, Services, Leases and field managers share these names. */
export const COMPONENT_NAMES = {
  webhook: 'plimsoll-webhook',
  agent: 'plimsoll-agent',
  scheduler: 'plimsoll-scheduler',
} as const;
/** Deployment, account and Lease of the process of several parts; it writes as the field manager plimsoll-scheduler. */
export const CONTROLLER = 'plimsoll-controller';
/**
 * The account of deploy/components/scheduler-second. It is not one of our own accounts: it deletes pods, as every
 * scheduler does.
 */
export const SECOND_SCHEDULER = 'plimsoll-kube-scheduler';

/** `reportingController` of Events. */
export const REPORTING_CONTROLLERS = {
  webhook: 'plimsoll.dev/webhook',
  agent: 'plimsoll.dev/agent',
  scheduler: 'plimsoll.dev/scheduler',
} as const;

export const WEBHOOK_CONFIGURATION = 'plimsoll';
export const WEBHOOK_ENTRIES = {
  priority: 'priority.plimsoll.dev',
  quota: 'quota.plimsoll.dev',
  templates: 'templates.plimsoll.dev',
  classes: 'classes.plimsoll.dev',
  evictions: 'evictions.plimsoll.dev',
  /** Evictions by our own accounts: the part of `evictions` that fails closed. */
  ownEvictions: 'own-evictions.plimsoll.dev',
  deletions: 'deletions.plimsoll.dev',
  /** Evictions by all other users, only in namespaces whose limits are enforced. */
  limitedEvictions: 'limited-evictions.plimsoll.dev',
  /** Deletions in these namespaces. They are counted and never refused. */
  limitedDeletions: 'limited-deletions.plimsoll.dev',
} as const;

/** The API server's policies for groups of pods; the entry for templates judges groups too. */
export const RULES_OF_GROUPS = { podGroups: 'podgroups.plimsoll.dev', workloads: 'workloads.plimsoll.dev' } as const;

/**
 * The PriorityRules objects that the API server reads: rules that refuse, rules that warn, and the defaults for pods.
 */
export const PRIORITY_RULES_NAMES = {
  refusing: 'plimsoll',
  warning: 'plimsoll-warnings',
  giving: 'plimsoll-defaults',
} as const;
/** The MutatingAdmissionPolicy that gives pods their class in the API server, and its binding. */
export const DEFAULT_POLICY = 'defaults.plimsoll.dev';
/** The same for groups of pods. */
export const GROUP_DEFAULT_POLICY = 'podgroups.defaults.plimsoll.dev';

/** The ValidatingAdmissionPolicy that protects the recorded rule of a pod, and its binding. */
export const RECORD_POLICY = 'records.plimsoll.dev';

/** On a pod: it wants to run in spare room, where a PriorityPolicy leaves the choice to it. */
export const ANNOTATION_SPARE = 'plimsoll.dev/spare';
/** On a pod in spare room: what it requested, as JSON by container. It is for people; nothing is decided by it. */
export const ANNOTATION_REQUESTED = 'plimsoll.dev/requested';

export const LABEL_IGNORE = 'plimsoll.dev/ignore';
/** On a namespace, with the value `true`: every part applies whose own label is absent. */
export const LABEL_MANAGED = 'plimsoll.dev/managed';
export const LABEL_PRIORITY_QUOTA = 'plimsoll.dev/priority-quota';
export const PRIORITY_QUOTA_ENFORCED = 'enforced';
/** On a namespace: every eviction in it is checked against the disruption limits. */
export const LABEL_DISRUPTION_LIMITS = 'plimsoll.dev/disruption-limits';
export const DISRUPTION_LIMITS_ENFORCED = 'enforced';
/** The name of the one DisruptionAccount of a namespace. */
export const DISRUPTION_ACCOUNT = 'plimsoll';
/** The DisruptionAccount in the namespace of the webhook to which evictions by our own accounts are debited. */
export const EVICTIONS_ACCOUNT = 'plimsoll-evictions';
/** The name of the one DisruptionPolicy. */
export const DISRUPTION_POLICY = 'plimsoll';
/** The ValidatingAdmissionPolicy against budgets that forbid every eviction. */
export const BUDGET_POLICY = 'budgets.plimsoll.dev';
/** On a pod or a namespace: the queue by name. */
export const LABEL_QUEUE = 'plimsoll.dev/queue';
/** On a pod: the application that it belongs to; YuniKorn's label has the same meaning. */
export const LABEL_APPLICATION = 'plimsoll.dev/application';
export const LABEL_APPLICATION_OF_OTHERS = 'applicationId';
/** On a pod that manages its application: it is evicted after the other pods. Spark marks its drivers with this role. */
export const LABEL_ORIGINATOR = 'plimsoll.dev/originator';
export const LABEL_SPARK_ROLE = 'spark-role';
/** On a pod, or on a Job with the value `auto`: the gang by name, and of how many pods it is. Labels, so that selectors see them. */
export const LABEL_GANG = 'plimsoll.dev/gang';
export const LABEL_GANG_SIZE = 'plimsoll.dev/gang-size';
export const LABEL_GANG_MIN = 'plimsoll.dev/gang-min';
/** On a Job and on its pods: they are a gang with the name of the Job, as many as run at once. */
export const GANG_AUTO = 'auto';
/** The groups of other projects, which mean the same. */
export const FOREIGN_GANGS = {
  kueue: { name: 'kueue.x-k8s.io/pod-group-name', size: 'kueue.x-k8s.io/pod-group-total-count' },
  coscheduling: { name: 'scheduling.x-k8s.io/pod-group' },
  lightweight: { name: 'pod-group.scheduling.sigs.k8s.io/name', min: 'pod-group.scheduling.sigs.k8s.io/min-available' },
} as const;
/** On a namespace: its pods wait behind the scheduling gate until their queue has room. */
export const LABEL_QUEUES = 'plimsoll.dev/queues';
export const QUEUES_MANAGED = 'managed';
export const QUEUE_GATE = 'plimsoll.dev/queue';
/** On a pod that was let in: its queue, its application, and what the queue leader knew about it then. */
export const ANNOTATION_ADMITTED = 'plimsoll.dev/admitted';
/** The Lease of the queues, and who made a queue from a template. */
export const QUEUE_LEADER = 'plimsoll-queues';
/** On a Queue, with that name: the queue was created from a template and is removed when it is empty. */
export const LABEL_MANAGED_BY = 'app.kubernetes.io/managed-by';
/**
 * On such a Queue: the template fields that the leader wrote, as JSON by field. A field with another value belongs to a
 * user.
 */
export const ANNOTATION_FROM_TEMPLATE = 'plimsoll.dev/from-template';
/** The verb on Queues that allows an account to remove scheduling gates: `plimsoll queue release`. */
export const RELEASE_VERB = 'release';
/** The ClusterRole by which the leader of the queues has that verb. */
export const QUEUE_RELEASE_ROLE = 'plimsoll-queues-release';
export const QUEUE_SELECTORS_NAME = 'plimsoll';
/** The API server's policies for pods that wait in queues. */
export const QUEUE_POLICY_NAMES = {
  gate: 'gate.queues.plimsoll.dev',
  /** The binding of the next one in namespaces whose pods wait. */
  guard: 'guard.queues.plimsoll.dev',
  mark: 'mark.queues.plimsoll.dev',
  label: 'label.queues.plimsoll.dev',
  gang: 'gang.queues.plimsoll.dev',
  jobGang: 'job-gang.queues.plimsoll.dev',
  resize: 'resize.queues.plimsoll.dev',
  root: 'root.queues.plimsoll.dev',
  warnings: 'warnings.queues.plimsoll.dev',
} as const;
export const ANNOTATION_EVICT = 'plimsoll.dev/evict';
/** On a Disruption: the UID of the removed pod, so that a list of metadata is enough to find it. */
export const LABEL_POD_UID = 'plimsoll.dev/pod-uid';
/**
 * On a NodePressurePolicy: the generation whose thresholds may act even though they were met when the policy arrived.
 */
export const ANNOTATION_CONFIRMED_GENERATION = 'plimsoll.dev/confirmed-generation';
/** On an Eviction of ours: the code of its reason, and the ID of the decision, which is also in the record. */
export const ANNOTATION_EVICTION_REASON = 'plimsoll.dev/eviction-reason';
export const ANNOTATION_EVICTION_DECISION = 'plimsoll.dev/eviction-decision';
/** On an Eviction: `Severe` while a hard threshold is met, `LastChance` while memory is nearly exhausted. */
export const ANNOTATION_EVICTION_URGENCY = 'plimsoll.dev/eviction-urgency';
/** On an Eviction by the controller: `queues` if a queue asks for it, otherwise absent. Which rules hold depends on it. */
export const ANNOTATION_EVICTION_PART = 'plimsoll.dev/eviction-part';
export const EVICTION_BY_QUEUES = 'queues';
/** On a pod: the rule that set its class, `POLICY/RULE`, or `POLICY` for the default of a policy. */
export const ANNOTATION_CLASS_RULE = 'plimsoll.dev/class-rule';
export const ANNOTATION_ALLOW_PREEMPTION = 'plimsoll.dev/allow-preemption';
/** On a List written by `plimsoll snapshot`: when the objects were read. */
export const ANNOTATION_SNAPSHOT_TIME = 'plimsoll.dev/snapshot-time';
/** And the kinds that its author was not allowed to list, separated by commas. */
export const ANNOTATION_SNAPSHOT_UNREAD = 'plimsoll.dev/snapshot-unread';
/** On a PriorityClass: each pod of the class decides with the same annotation whether it may be preempted. */
export const PREEMPTION_BY_POD = 'by-pod';

/** Annotations of other projects with the same meaning; Plimsoll honours them. */
export const FOREIGN_ALLOW_PREEMPTION = 'yunikorn.apache.org/allow-preemption';
/** Set by a project that answers an eviction with a migration in the background, such as KubeVirt, while it goes on. */
export const FOREIGN_EVICTION_IN_PROGRESS = 'descheduler.alpha.kubernetes.io/eviction-in-progress';
export const FOREIGN_PREFER_NO_EVICTION = 'descheduler.alpha.kubernetes.io/prefer-no-eviction';

/** Taint keys by family; only the scheduler process writes them. */
export const PRESSURE_TAINTS = {
  memory: 'plimsoll.dev/memory-pressure',
  cpu: 'plimsoll.dev/cpu-pressure',
  io: 'plimsoll.dev/io-pressure',
  disk: 'plimsoll.dev/disk-pressure',
  pid: 'plimsoll.dev/pid-pressure',
} as const;
/** Node conditions by family; only the scheduler process writes them. */
export const PRESSURE_CONDITIONS = {
  memory: 'plimsoll.dev/MemoryContention',
  cpu: 'plimsoll.dev/CpuContention',
  io: 'plimsoll.dev/IoContention',
  disk: 'plimsoll.dev/DiskContention',
  pid: 'plimsoll.dev/PidContention',
} as const;

/** On a pod behind the gate of the queues: what it waits for, as the Event of the same name. */
export const CONDITION_WAITS_IN_QUEUE = 'plimsoll.dev/WaitsInQueue';

/** Reasons of Events. The first three are those of the kubelet and kube-scheduler. */
export const EVENT_REASONS = {
  thresholdMet: 'EvictionThresholdMet',
  evicted: 'Evicted',
  preempted: 'Preempted',
  evictionFailed: 'EvictionFailed',
  evictionDryRun: 'EvictionDryRun',
  evictionIneffective: 'EvictionIneffective',
  cpuLimitLowered: 'CPULimitLowered',
  cpuLimitRestored: 'CPULimitRestored',
  cpuLimitNotRestored: 'CPULimitNotRestored',
  nodeContested: 'NodeWriteContested',
  evictionLoop: 'EvictionLoopDetected',
  preemptionLoop: 'PreemptionLoopDetected',
  preemptionRefused: 'PreemptionRefused',
  policyViolated: 'PolicyViolated',
  policyConflict: 'PolicyConflict',
  quotaExceeded: 'QuotaExceeded',
  namespaceLeftQuota: 'NamespaceLeftQuota',
  severalDefaults: 'SeveralGlobalDefaults',
  waitsInQueue: 'WaitsInQueue',
  reclaimed: 'Reclaimed',
  noRoomReclaimed: 'NoRoomReclaimed',
  gangGoesBack: 'GangGoesBack',
  rescheduled: 'Rescheduled',
  reschedulingDryRun: 'ReschedulingDryRun',
} as const;

/** @public */
export const SHORT_NAMES = {
  PriorityPolicy: 'prpol',
  PriorityQuota: 'prquota',
  PriorityRules: 'prrules',
  NodePressurePolicy: 'nppol',
  NodePressure: 'np',
  Disruption: 'disr',
  DisruptionLimit: 'dlimit',
  DisruptionPolicy: 'dpol',
  DisruptionAccount: 'dacc',
  Queue: 'que',
  QueueSelectors: 'quesel',
  ReschedulingPolicy: 'rpol',
} as const;
