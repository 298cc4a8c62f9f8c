import {
  CONTROLLER,
  NAMESPACE_NODE,
  NAMESPACE_SYSTEM,
  QUEUE_POLICY_NAMES,
  RELEASE_VERB,
} from '#shared/kube/api-names.ts';
import { managedName } from '#shared/kube/namespace-switches.ts';

/** What RBAC allows an account: verbs on resources of one API group. */
export interface Right {
  readonly group: string;
  /** `pods`, `pods/eviction` … */
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only objects with these names; absent for all. */
  readonly names?: readonly string[];
  /** Only in this namespace; absent for the whole cluster. */
  readonly namespace?: string;
}

function may(group: string, resources: string, verbs: string, only: Pick<Right, 'names' | 'namespace'> = {}): Right {
  return { group, resources: resources.split(' '), verbs: verbs.split(' '), ...only };
}

const OWN = 'plimsoll.dev';
const ADMISSION = 'admissionregistration.k8s.io';
const RULES = ['plimsoll', 'plimsoll-warnings', 'plimsoll-defaults'];
const WRITES_EVENTS = may('events.k8s.io', 'events', 'create patch');

/** A Lease by name, which replicas that wait watch. */
function heldLease(name: string, verbs = 'get list watch patch'): Right {
  return may('coordination.k8s.io', 'leases', verbs, { names: [name], namespace: NAMESPACE_SYSTEM });
}

/** With its creation, which cannot be limited by name. */
function lease(name: string, verbs?: string): readonly Right[] {
  return [heldLease(name, verbs), may('coordination.k8s.io', 'leases', 'create', { namespace: NAMESPACE_SYSTEM })];
}

/** Since when the mark of pods that were let in is guarded. */
const MARK_GUARD = may(ADMISSION, 'validatingadmissionpolicies validatingadmissionpolicybindings', 'get', {
  names: [QUEUE_POLICY_NAMES.mark, QUEUE_POLICY_NAMES.guard, managedName(QUEUE_POLICY_NAMES.guard)],
});

/** The copy of the cluster that the parts of the scheduler process decide from. */
const CLUSTER_COPY: readonly Right[] = [
  may('apps', 'daemonsets', 'list watch'),
  may('policy', 'poddisruptionbudgets', 'list watch'),
  may('scheduling.k8s.io', 'priorityclasses', 'list watch'),
];

/** Of both accounts that the extender runs with. */
const EXTENDER: readonly Right[] = [
  may('', 'pods namespaces nodes', 'get list watch'),
  may('', 'pods/status', 'patch'),
  may('apps', 'daemonsets', 'list watch'),
  may('policy', 'poddisruptionbudgets', 'get list watch'),
  may('scheduling.k8s.io', 'priorityclasses', 'get list watch'),
  may(OWN, 'nodepressures', 'get list watch patch'),
  may(OWN, 'queues', 'list watch'),
  MARK_GUARD,
  WRITES_EVENTS,
  ...lease('plimsoll-preemption-loops'),
];

/** The rights of each part of the controller: its account has those of the parts that are on. */
export const PART_RIGHTS = {
  nodes: [
    may('', 'pods', 'list watch', { namespace: NAMESPACE_NODE }),
    may('', 'nodes', 'get list watch patch'),
    may('', 'nodes/status', 'patch'),
    may(OWN, 'nodepressures', 'get list watch patch'),
    may(OWN, 'nodepressurepolicies', 'get list watch'),
    WRITES_EVENTS,
    heldLease('plimsoll-node-controller'),
  ],
  queues: [
    may('', 'pods', 'list watch patch'),
    may('', 'pods/status', 'patch'),
    may('', 'pods/eviction', 'create'),
    may('', 'namespaces nodes', 'list watch'),
    ...CLUSTER_COPY,
    may(OWN, 'nodepressures queues', 'list watch'),
    may(OWN, 'queues/status', 'patch'),
    may(OWN, 'queues', `create patch delete ${RELEASE_VERB}`),
    may(OWN, 'queueselectors', 'get create patch'),
    may('scheduling.k8s.io', 'podgroups', 'get'),
    may('scheduling.x-k8s.io', 'podgroups', 'get'),
    MARK_GUARD,
    WRITES_EVENTS,
    heldLease('plimsoll-queues'),
    may('coordination.k8s.io', 'leases', 'list watch', { names: ['kube-scheduler'], namespace: 'kube-system' }),
  ],
  rescheduling: [
    may('', 'pods namespaces nodes', 'list watch'),
    may('', 'pods/eviction', 'create'),
    ...CLUSTER_COPY,
    WRITES_EVENTS,
    may(OWN, 'nodepressures', 'get list watch patch'),
    may(OWN, 'reschedulingpolicies disruptionlimits disruptionpolicies disruptionaccounts', 'list watch'),
    may(OWN, 'reschedulingpolicies/status', 'patch'),
    heldLease('plimsoll-rescheduling'),
  ],
  disruptions: [
    may('', 'pods namespaces nodes', 'list watch'),
    ...CLUSTER_COPY,
    may('events.k8s.io', 'events', 'list watch'),
    may(OWN, 'nodepressures queues reschedulingpolicies', 'list watch'),
    may(OWN, 'disruptions', 'list watch create delete'),
    may(OWN, 'disruptions/status', 'patch'),
    may(OWN, 'disruptionlimits', 'list watch'),
    may(OWN, 'disruptionpolicies', 'get list watch'),
    may(OWN, 'disruptionaccounts', 'get create'),
    may(OWN, 'disruptionaccounts/status', 'update'),
    may(OWN, 'disruptionlimits/status disruptionpolicies/status', 'patch'),
    heldLease('plimsoll-disruptions'),
    may('', 'configmaps', 'get patch', { names: ['plimsoll-disruptions'], namespace: NAMESPACE_SYSTEM }),
  ],
  dashboard: [
    may(OWN, 'nodepressures nodepressurepolicies prioritypolicies priorityquotas disruptions queues', 'get list watch'),
    may('scheduling.k8s.io', 'priorityclasses', 'get list watch'),
    may('', 'resourcequotas nodes', 'get list watch'),
    may('', 'pods namespaces', 'list'),
    may('policy', 'poddisruptionbudgets', 'list'),
    may('events.k8s.io', 'events', 'get list watch'),
    may('authentication.k8s.io', 'tokenreviews', 'create'),
    may('authorization.k8s.io', 'subjectaccessreviews', 'create'),
  ],
} as const satisfies Readonly<Record<string, readonly Right[]>>;

/**
 * Every right that a role of ours gives, by account; Kubernetes' own roles for a scheduler are not repeated, nor are
 * the parts of the controller.
 */
export const RIGHTS = {
  webhook: [
    may('', 'pods namespaces resourcequotas', 'get list watch'),
    may('scheduling.k8s.io', 'priorityclasses', 'get list watch'),
    may(OWN, 'prioritypolicies priorityquotas nodepressures', 'get list watch'),
    may(OWN, 'nodepressurepolicies', 'list'),
    may('', 'nodes', 'get'),
    may('apps', 'daemonsets', 'get'),
    may('policy', 'poddisruptionbudgets', 'list'),
    may(OWN, 'prioritypolicies/status priorityquotas/status', 'patch update'),
    may(OWN, 'priorityrules', 'get update delete', { names: RULES }),
    may(OWN, 'priorityrules', 'list watch create'),
    may(OWN, 'priorityrules/status', 'patch', { names: RULES }),
    WRITES_EVENTS,
    may(ADMISSION, 'mutatingwebhookconfigurations validatingwebhookconfigurations', 'get list watch patch', {
      names: ['plimsoll'],
    }),
    may(ADMISSION, 'validatingadmissionpolicies validatingadmissionpolicybindings', 'get list watch'),
    may(ADMISSION, 'mutatingadmissionpolicies mutatingadmissionpolicybindings', 'get list watch'),
    may(OWN, 'nodepressurepolicies/status', 'patch'),
    may(OWN, 'disruptionlimits disruptionpolicies', 'list watch'),
    may(OWN, 'disruptionaccounts', 'get create'),
    may(OWN, 'disruptionaccounts/status', 'update'),
    may('', 'secrets', 'get update', { names: ['plimsoll-webhook-tls'], namespace: NAMESPACE_SYSTEM }),
    ...lease('plimsoll-webhook'),
  ],
  agent: [
    may('', 'pods', 'get list watch'),
    may('', 'pods/eviction', 'create'),
    may('', 'pods/resize', 'patch'),
    may('', 'resourcequotas', 'list'),
    may(OWN, 'priorityquotas', 'list'),
    may('', 'nodes', 'get list watch'),
    may('', 'nodes/stats', 'get'),
    may('', 'namespaces', 'get'),
    WRITES_EVENTS,
    may(OWN, 'nodepressurepolicies', 'get list watch'),
    may(OWN, 'nodepressures', 'get list watch create'),
    may(OWN, 'nodepressures/status', 'patch'),
  ],
  controller: lease(CONTROLLER),
  secondScheduler: [...EXTENDER, ...lease('plimsoll-scheduler', 'get update')],
  controlPlaneExtender: EXTENDER,
} as const satisfies Readonly<Record<string, readonly Right[]>>;
