import { encodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { NO_LIMITS, type PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import {
  NAMESPACES,
  PRIORITY_CLASSES,
  PRIORITY_POLICIES,
  type Resource,
  RESOURCE_QUOTAS,
} from '#shared/kube/resource.ts';
import { ANNOTATION_ALLOW_PREEMPTION } from '#shared/kube/api-names.ts';
import { CRITICAL_QUOTA_MI, type PlannedPod, TEAMS } from './plan-scenario.ts';

/** An object with the address to create it at. */
export interface ScenarioObject {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly object: object;
}

interface PlannedClass {
  readonly name: string;
  readonly value: number;
  readonly description: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

const CLASSES: readonly PlannedClass[] = [
  { name: 'critical', value: 100_000, description: 'Services that customers wait for' },
  { name: 'standard', value: 10_000, description: 'Everything else that serves' },
  { name: 'batch', value: -100, description: 'Work that can be done again' },
  {
    name: 'long-jobs',
    value: -200,
    description: 'Work that waits for room, and that would have to start over',
    annotations: { [ANNOTATION_ALLOW_PREEMPTION]: 'false' },
  },
];

/** What an administrator sets up once: teams, classes, quotas and permissions. */
export function groundRules(): readonly ScenarioObject[] {
  return [...TEAMS.map(namespace), ...CLASSES.map(priorityClass), ...TEAMS.map(criticalQuota), teamPolicy()];
}

function namespace(name: string): ScenarioObject {
  const labels = { 'example.com/team': name };
  return { resource: NAMESPACES, object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } } };
}

function priorityClass({ name, value, description, annotations }: PlannedClass): ScenarioObject {
  const metadata = { name, ...(annotations && { annotations }) };
  const object = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata, value, description };
  return { resource: PRIORITY_CLASSES, object };
}

/** A plain ResourceQuota with a PriorityClass scope. */
function criticalQuota(team: string): ScenarioObject {
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['critical'] }] };
  const object = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'critical', namespace: team },
    spec: { hard: { 'requests.memory': `${CRITICAL_QUOTA_MI}Mi`, pods: '4' }, scopeSelector },
  };
  return { resource: RESOURCE_QUOTAS, namespace: team, object };
}

function teamPolicy(): ScenarioObject {
  const teams = { key: 'example.com/team', operator: 'Exists', values: [] };
  const policy: PriorityPolicy = {
    ...NO_LIMITS,
    name: 'teams',
    namespaces: prepareSelector({ matchLabels: new Map(), matchExpressions: [teams] }),
    subjects: [],
    defaultClassName: 'standard',
    classRules: [],
    allowedClassNames: CLASSES.map(({ name }) => name),
    substitutes: new Map(),
    onViolation: 'Deny',
    schedulerName: undefined,
  };
  return { resource: PRIORITY_POLICIES, object: encodePriorityPolicy(policy) };
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

function podSpec(planned: PlannedPod) {
  const { priorityClass: priorityClassName, image, requestMi, milliCpu, holdsMi, growsMiPerSecond } = planned;
  const args = [`--memory=${holdsMi}Mi`, ...(growsMiPerSecond > 0 ? [`--grow=${growsMiPerSecond}Mi`] : [])];
  const resources = { requests: { cpu: `${milliCpu}m`, memory: `${requestMi}Mi` } };
  return {
    priorityClassName,
    terminationGracePeriodSeconds: 5,
    containers: [{ name: 'main', image, args, resources }],
  };
}
