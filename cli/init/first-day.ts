import { API_VERSION, LABEL_MANAGED } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  apiVersionOf,
  NODE_PRESSURE_POLICIES,
  PRIORITY_CLASSES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  QUEUES,
  type Resource,
} from '#shared/kube/resource.ts';

/** An object of the first day. */
export interface FirstDayObject {
  readonly resource: Resource;
  readonly object: KubeObject & { readonly metadata: { readonly name: string } };
}

const TENANTS = { namespaceSelector: { matchLabels: { [LABEL_MANAGED]: 'true' } } };

/**
 * The objects of deploy/examples/first-day.yaml: they only report. The policy warns, the agents are a dry run, quota and
 * queue hold nothing up before a namespace is labelled.
 */
export const FIRST_DAY: readonly FirstDayObject[] = [
  made(PRIORITY_CLASSES, 'standard', { value: 10_000, preemptionPolicy: 'Never' }),
  made(PRIORITY_CLASSES, 'high', { value: 100_000 }),
  ofOurs(PRIORITY_POLICIES, 'tenants', {
    ...TENANTS,
    allowedPriorityClassNames: ['standard'],
    defaultPriorityClassName: 'standard',
    onViolation: 'Warn',
  }),
  ofOurs(PRIORITY_QUOTAS, 'high-tier', {
    ...TENANTS,
    priorityClassNames: ['high'],
    hard: { 'requests.cpu': '200', 'requests.memory': '800Gi', pods: 500 },
  }),
  ofOurs(QUEUES, 'tenants', { guaranteed: { cpu: '4', memory: '16Gi' }, ...TENANTS }),
  ofOurs(NODE_PRESSURE_POLICIES, 'all-nodes', {
    // Any other policy of a node comes first.
    order: -1,
    mode: 'DryRun',
    avoidance: { mode: 'DryRun' },
    taints: { mode: 'DryRun' },
  }),
];

function made(resource: Resource, name: string, fields: object): FirstDayObject {
  const { kind } = resource;
  return { resource, object: { apiVersion: apiVersionOf(resource), kind, metadata: { name }, ...fields } };
}

function ofOurs(resource: Resource, name: string, spec: object): FirstDayObject {
  return made(resource, name, { spec });
}

/** Whether one object of the kind that exists keeps this one out: it could take nodes or namespaces from that one. */
export function standsAlone({ object }: FirstDayObject): boolean {
  return object.apiVersion === API_VERSION;
}
