import {
  NAMESPACES,
  PRIORITY_CLASSES,
  PRIORITY_POLICIES,
  type Resource,
  RESOURCE_QUOTAS,
} from '#shared/kube/resource.ts';
import { API_VERSION } from '#shared/kube/api-names.ts';
import { CRITICAL_QUOTA_MI, type PlannedPod, TEAMS } from './plan-scenario.ts';

/** An object with the address to create it at. */
export interface Manifest {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly object: object;
}

const CLASSES = [
  { name: 'critical', value: 100_000, description: 'Services that customers wait for' },
  { name: 'standard', value: 10_000, description: 'Everything else that serves' },
  { name: 'batch', value: -100, description: 'Work that can be done again' },
];

/** What an administrator sets up once: teams, classes, quotas, and who may use what. */
export function groundRules(): readonly Manifest[] {
  return [...TEAMS.map(namespace), ...CLASSES.map(priorityClass), ...TEAMS.map(criticalQuota), teamPolicy()];
}

function namespace(name: string): Manifest {
  const labels = { 'example.com/team': name };
  return { resource: NAMESPACES, object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } } };
}

function priorityClass({ name, value, description }: (typeof CLASSES)[number]): Manifest {
  const object = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, description };
  return { resource: PRIORITY_CLASSES, object };
}

/** A plain ResourceQuota with a PriorityClass scope. */
function criticalQuota(team: string): Manifest {
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['critical'] }] };
  const object = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'critical', namespace: team },
    spec: { hard: { 'requests.memory': `${CRITICAL_QUOTA_MI}Mi`, pods: '4' }, scopeSelector },
  };
  return { resource: RESOURCE_QUOTAS, namespace: team, object };
}

function teamPolicy(): Manifest {
  const namespaceSelector = { matchExpressions: [{ key: 'example.com/team', operator: 'Exists' }] };
  const spec = {
    namespaceSelector,
    defaultPriorityClassName: 'standard',
    allowedPriorityClassNames: CLASSES.map(({ name }) => name),
  };
  return {
    resource: PRIORITY_POLICIES,
    object: { apiVersion: API_VERSION, kind: 'PriorityPolicy', metadata: { name: 'teams' }, spec },
  };
}

/** A pod by itself. */
export function podOf(planned: PlannedPod): object {
  const { name, namespace: inNamespace } = planned;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: inNamespace, labels: { app: name } },
    spec: podSpec(planned),
  };
}

/** A Deployment of one such pod. */
export function deploymentOf(planned: PlannedPod): object {
  const { name, namespace: inNamespace } = planned;
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: inNamespace, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(planned) },
    },
  };
}

function podSpec({ priorityClass: priorityClassName, image, requestMi, holdsMi, growsMiPerSecond }: PlannedPod) {
  const args = [`--memory=${holdsMi}Mi`, ...(growsMiPerSecond > 0 ? [`--grow=${growsMiPerSecond}Mi`] : [])];
  const resources = { requests: { cpu: '50m', memory: `${requestMi}Mi` } };
  return {
    priorityClassName,
    terminationGracePeriodSeconds: 5,
    containers: [{ name: 'main', image, args, resources }],
  };
}
