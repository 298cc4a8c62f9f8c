/** One kind of object as the API server names it in its paths. `group` is empty for core/v1. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

function namespaced(apiVersion: string, plural: string, kind: string): Resource {
  return { ...splitApiVersion(apiVersion), plural, kind, namespaced: true };
}

function clusterScoped(apiVersion: string, plural: string, kind: string): Resource {
  return { ...splitApiVersion(apiVersion), plural, kind, namespaced: false };
}

function splitApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/');
  if (slash < 0) return { group: '', version: apiVersion };
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

export const PODS = namespaced('v1', 'pods', 'Pod');
export const NODES = clusterScoped('v1', 'nodes', 'Node');
export const NAMESPACES = clusterScoped('v1', 'namespaces', 'Namespace');
export const CONFIG_MAPS = namespaced('v1', 'configmaps', 'ConfigMap');
export const SERVICE_ACCOUNTS = namespaced('v1', 'serviceaccounts', 'ServiceAccount');
export const SECRETS = namespaced('v1', 'secrets', 'Secret');
export const RESOURCE_QUOTAS = namespaced('v1', 'resourcequotas', 'ResourceQuota');
export const DEPLOYMENTS = namespaced('apps/v1', 'deployments', 'Deployment');
export const DAEMON_SETS = namespaced('apps/v1', 'daemonsets', 'DaemonSet');
export const REPLICA_SETS = namespaced('apps/v1', 'replicasets', 'ReplicaSet');
export const PRIORITY_CLASSES = clusterScoped('scheduling.k8s.io/v1', 'priorityclasses', 'PriorityClass');
/** The kind is served from 1.36 on where it is switched on; each minor serves other versions of it. */
export const NATIVE_GROUPS = ['v1beta1', 'v1alpha3', 'v1alpha2'].map((version) =>
  namespaced(`scheduling.k8s.io/${version}`, 'podgroups', 'PodGroup'),
);
export const COSCHEDULING_GROUPS = namespaced('scheduling.x-k8s.io/v1alpha1', 'podgroups', 'PodGroup');
export const PDBS = namespaced('policy/v1', 'poddisruptionbudgets', 'PodDisruptionBudget');
export const EVENTS = namespaced('events.k8s.io/v1', 'events', 'Event');
export const LEASES = namespaced('coordination.k8s.io/v1', 'leases', 'Lease');
export const MUTATING_WEBHOOKS = clusterScoped(
  'admissionregistration.k8s.io/v1',
  'mutatingwebhookconfigurations',
  'MutatingWebhookConfiguration',
);
export const VALIDATING_WEBHOOKS = clusterScoped(
  'admissionregistration.k8s.io/v1',
  'validatingwebhookconfigurations',
  'ValidatingWebhookConfiguration',
);
export const ADMISSION_POLICIES = clusterScoped(
  'admissionregistration.k8s.io/v1',
  'validatingadmissionpolicies',
  'ValidatingAdmissionPolicy',
);
export const ADMISSION_POLICY_BINDINGS = clusterScoped(
  'admissionregistration.k8s.io/v1',
  'validatingadmissionpolicybindings',
  'ValidatingAdmissionPolicyBinding',
);
export const MUTATING_POLICIES = clusterScoped(
  'admissionregistration.k8s.io/v1',
  'mutatingadmissionpolicies',
  'MutatingAdmissionPolicy',
);
export const MUTATING_POLICY_BINDINGS = clusterScoped(
  'admissionregistration.k8s.io/v1',
  'mutatingadmissionpolicybindings',
  'MutatingAdmissionPolicyBinding',
);
export const CUSTOM_RESOURCE_DEFINITIONS = clusterScoped(
  'apiextensions.k8s.io/v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
);
export const PRIORITY_POLICIES = clusterScoped('plimsoll.dev/v1alpha1', 'prioritypolicies', 'PriorityPolicy');
export const PRIORITY_QUOTAS = clusterScoped('plimsoll.dev/v1alpha1', 'priorityquotas', 'PriorityQuota');
export const QUEUE_SELECTORS = clusterScoped('plimsoll.dev/v1alpha1', 'queueselectors', 'QueueSelectors');
export const PRIORITY_RULES = clusterScoped('plimsoll.dev/v1alpha1', 'priorityrules', 'PriorityRules');
export const NODE_PRESSURE_POLICIES = clusterScoped(
  'plimsoll.dev/v1alpha1',
  'nodepressurepolicies',
  'NodePressurePolicy',
);
export const DISRUPTIONS = namespaced('plimsoll.dev/v1alpha1', 'disruptions', 'Disruption');
export const DISRUPTION_LIMITS = namespaced('plimsoll.dev/v1alpha1', 'disruptionlimits', 'DisruptionLimit');
export const DISRUPTION_ACCOUNTS = namespaced('plimsoll.dev/v1alpha1', 'disruptionaccounts', 'DisruptionAccount');
export const DISRUPTION_POLICIES = clusterScoped('plimsoll.dev/v1alpha1', 'disruptionpolicies', 'DisruptionPolicy');
export const QUEUES = clusterScoped('plimsoll.dev/v1alpha1', 'queues', 'Queue');
export const RESCHEDULING_POLICIES = clusterScoped(
  'plimsoll.dev/v1alpha1',
  'reschedulingpolicies',
  'ReschedulingPolicy',
);
export const NODE_PRESSURES = clusterScoped('plimsoll.dev/v1alpha1', 'nodepressures', 'NodePressure');

/** Every kind of ours by name. */
export const OUR_KINDS: readonly Resource[] = [
  DISRUPTION_ACCOUNTS,
  DISRUPTION_LIMITS,
  DISRUPTION_POLICIES,
  DISRUPTIONS,
  NODE_PRESSURE_POLICIES,
  NODE_PRESSURES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  PRIORITY_RULES,
  QUEUES,
  QUEUE_SELECTORS,
  RESCHEDULING_POLICIES,
];

/** The `apiVersion` text of a resource's objects: `v1`, `policy/v1`. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** A resource as metrics and logs name it: `pods`, `leases.coordination.k8s.io`. */
export function resourceLabel(resource: Pick<Resource, 'group' | 'plural'>): string {
  return resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** A kind as kubectl names its objects: `pod`, `queue.plimsoll.dev`. */
export function kindLabel({ kind, group }: Pick<Resource, 'group' | 'kind'>): string {
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}`;
}

/** The address of a list or an object; without `name` the collection, without `namespace` all namespaces. */
export interface ResourceAddress {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** The URL path of a collection, an object or one of its subresources; names are escaped. */
export function resourcePath(resource: Resource, address: ResourceAddress = {}): string {
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const namespace = resource.namespaced && address.namespace !== undefined ? ['namespaces', address.namespace] : [];
  const segments = [...namespace, resource.plural, address.name, address.subresource];
  const path = segments.filter((segment) => segment !== undefined).map(escapeSegment);
  return [root, resource.version, ...path].join('/');
}

const MOVES: readonly string[] = ['', '.', '..'];

/** Replaces a name that would change the path by a name that no object can have; never throws. */
function escapeSegment(segment: string): string {
  const name = MOVES.includes(segment) ? `%${segment}` : segment;
  return encodeURIComponent(name.toWellFormed());
}
