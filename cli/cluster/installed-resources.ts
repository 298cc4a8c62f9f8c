import {
  ADMISSION_POLICIES,
  ADMISSION_POLICY_BINDINGS,
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  MUTATING_WEBHOOKS,
  NAMESPACES,
  PDBS,
  type Resource,
  RESOURCE_QUOTAS,
  SECRETS,
  VALIDATING_WEBHOOKS,
} from '#shared/kube/resource.ts';

const core = { group: '', version: 'v1', namespaced: true };
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' };
const flowControl = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', namespaced: false };
const certificates = { group: 'cert-manager.io', version: 'v1', namespaced: true };
const monitoring = { group: 'monitoring.coreos.com', version: 'v1', namespaced: true };

/**
 * Kinds that the API server uses at each admission: they are removed first, so that it does not call a removed webhook.
 */
export const ADMISSION_RESOURCES: readonly Resource[] = [
  MUTATING_WEBHOOKS,
  VALIDATING_WEBHOOKS,
  ADMISSION_POLICY_BINDINGS,
  ADMISSION_POLICIES,
];

/** All other kinds of `deploy/base` except CustomResourceDefinitions and namespaces, in the order of removal. */
export const WORKLOAD_RESOURCES: readonly Resource[] = [
  DEPLOYMENTS,
  { group: 'apps', version: 'v1', plural: 'daemonsets', kind: 'DaemonSet', namespaced: true },
  PDBS,
  { ...core, plural: 'services', kind: 'Service' },
  { group: 'networking.k8s.io', version: 'v1', plural: 'networkpolicies', kind: 'NetworkPolicy', namespaced: true },
  RESOURCE_QUOTAS,
  SECRETS,
  { ...rbac, plural: 'rolebindings', kind: 'RoleBinding', namespaced: true },
  { ...rbac, plural: 'roles', kind: 'Role', namespaced: true },
  { ...rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false },
  { ...rbac, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false },
  { ...core, plural: 'serviceaccounts', kind: 'ServiceAccount' },
];

/** Every kind that `deploy/base` creates; a test compares it with that folder. */
export const INSTALLED_RESOURCES: readonly Resource[] = [
  CUSTOM_RESOURCE_DEFINITIONS,
  NAMESPACES,
  ...WORKLOAD_RESOURCES,
  ...ADMISSION_RESOURCES,
];

/** Kinds created only by components and overlays. */
export const COMPONENT_RESOURCES: readonly Resource[] = [
  MUTATING_POLICY_BINDINGS,
  MUTATING_POLICIES,
  CONFIG_MAPS,
  { ...certificates, plural: 'certificates', kind: 'Certificate' },
  { ...certificates, plural: 'issuers', kind: 'Issuer' },
  { ...flowControl, plural: 'flowschemas', kind: 'FlowSchema' },
  { ...flowControl, plural: 'prioritylevelconfigurations', kind: 'PriorityLevelConfiguration' },
  { ...monitoring, plural: 'podmonitors', kind: 'PodMonitor' },
  { ...monitoring, plural: 'prometheusrules', kind: 'PrometheusRule' },
];
