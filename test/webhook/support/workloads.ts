/** A kind that makes pods from a template, and where its objects live. */
export interface WorkloadKind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  /** A workload whose pods have this spec, and these labels besides its own. */
  readonly build: (name: string, podSpec: object, labels?: object) => object;
}

const LABELS = { app: 'wrapped' };

/** All kinds that wrap a pod: the six in common use, and ReplicationController. */
export const WORKLOAD_KINDS: readonly WorkloadKind[] = [
  workload('apps/v1', 'deployments', 'Deployment', replicated),
  workload('apps/v1', 'statefulsets', 'StatefulSet', (template) => ({
    ...replicated(template),
    serviceName: 'wrapped',
  })),
  workload('apps/v1', 'daemonsets', 'DaemonSet', (template) => ({ selector: { matchLabels: LABELS }, template })),
  workload('apps/v1', 'replicasets', 'ReplicaSet', replicated),
  workload('v1', 'replicationcontrollers', 'ReplicationController', (template) => ({
    replicas: 1,
    selector: LABELS,
    template,
  })),
  workload('batch/v1', 'jobs', 'Job', (template) => ({ template })),
  workload('batch/v1', 'cronjobs', 'CronJob', (template) => ({
    schedule: '0 0 1 1 *',
    jobTemplate: { spec: { template } },
  })),
];

function replicated(template: object): object {
  return { replicas: 1, selector: { matchLabels: LABELS }, template };
}

function workload(
  apiVersion: string,
  plural: string,
  kind: string,
  specOf: (template: object) => object,
): WorkloadKind {
  const isBatch = apiVersion === 'batch/v1';
  return {
    apiVersion,
    plural,
    kind,
    build: (name, podSpec, labels = {}) => {
      const spec = isBatch ? { restartPolicy: 'Never', ...podSpec } : podSpec;
      const template = { metadata: { labels: isBatch ? labels : { ...labels, ...LABELS } }, spec };
      return { apiVersion, kind, metadata: { name }, spec: specOf(template) };
    },
  };
}

/** One of them by kind; throws for any other kind. */
export function workloadKind(kind: string): WorkloadKind {
  const found = WORKLOAD_KINDS.find((each) => each.kind === kind);
  if (found === undefined) throw new Error(`no workload of kind ${kind}`);
  return found;
}

/** The path of a kind's collection in a namespace. */
export function collectionPath(
  { apiVersion, plural }: Pick<WorkloadKind, 'apiVersion' | 'plural'>,
  namespace: string,
): string {
  const root = apiVersion.includes('/') ? '/apis' : '/api';
  return `${root}/${apiVersion}/namespaces/${namespace}/${plural}`;
}
