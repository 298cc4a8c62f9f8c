import { fieldsAt, isFields, textAt, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { setPodSpecDefaults } from './pod-defaults.ts';
import { recordAt, setDefault } from '#sandbox/api-server/set-default.ts';

function setTemplateDefaults(spec: Fields): void {
  setPodSpecDefaults(recordAt(recordAt(spec, 'template'), 'spec'), false);
}

/** `pkg/apis/apps/v1/defaults.go`. */
export function setDeploymentDefaults(deployment: KubeObject): void {
  const spec = recordAt(deployment, 'spec');
  setTemplateDefaults(spec);
  setDefault(spec, 'replicas', 1);
  setDefault(spec, 'revisionHistoryLimit', 10);
  setDefault(spec, 'progressDeadlineSeconds', 600);
  const strategy = recordAt(spec, 'strategy');
  setDefault(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') setRollingUpdateDefaults(recordAt(strategy, 'rollingUpdate'), '25%');
  recordAt(deployment, 'status');
}

function setRollingUpdateDefaults(rollingUpdate: Fields, maxSurge: string | number): void {
  setDefault(rollingUpdate, 'maxUnavailable', maxSurge === 0 ? 1 : '25%');
  setDefault(rollingUpdate, 'maxSurge', maxSurge);
}

export function setReplicaSetDefaults(replicaSet: KubeObject): void {
  const spec = recordAt(replicaSet, 'spec');
  setTemplateDefaults(spec);
  setDefault(spec, 'replicas', 1);
  setDefault(recordAt(replicaSet, 'status'), 'replicas', 0);
}

export function setStatefulSetDefaults(statefulSet: KubeObject): void {
  const spec = recordAt(statefulSet, 'spec');
  setTemplateDefaults(spec);
  setDefault(spec, 'replicas', 1);
  setDefault(spec, 'podManagementPolicy', 'OrderedReady');
  setDefault(spec, 'revisionHistoryLimit', 10);
  const strategy = recordAt(spec, 'updateStrategy');
  setDefault(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') setDefault(recordAt(strategy, 'rollingUpdate'), 'partition', 0);
  setDefault(spec, 'persistentVolumeClaimRetentionPolicy', { whenDeleted: 'Retain', whenScaled: 'Retain' });
}

export function setDaemonSetDefaults(daemonSet: KubeObject): void {
  const spec = recordAt(daemonSet, 'spec');
  setTemplateDefaults(spec);
  setDefault(spec, 'revisionHistoryLimit', 10);
  const strategy = recordAt(spec, 'updateStrategy');
  setDefault(strategy, 'type', 'RollingUpdate');
  if (strategy['type'] === 'RollingUpdate') {
    const rollingUpdate = recordAt(strategy, 'rollingUpdate');
    setDefault(rollingUpdate, 'maxUnavailable', 1);
    setDefault(rollingUpdate, 'maxSurge', 0);
  }
}

/** A replication controller selects by its template's labels where it names no selector. */
export function setReplicationControllerDefaults(controller: KubeObject): void {
  const spec = recordAt(controller, 'spec');
  setTemplateDefaults(spec);
  setDefault(spec, 'replicas', 1);
  const labels = fieldsAt(fieldsAt(fieldsAt(spec, 'template'), 'metadata'), 'labels');
  if (Object.keys(labels).length > 0) setDefault(spec, 'selector', { ...labels });
}

/** `pkg/apis/batch/v1/defaults.go`. */
export function setJobDefaults(job: KubeObject): void {
  setJobSpecDefaults(recordAt(job, 'spec'));
  recordAt(job, 'status');
}

function setJobSpecDefaults(spec: Fields): void {
  setTemplateDefaults(spec);
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) setDefault(spec, 'completions', 1);
  setDefault(spec, 'parallelism', 1);
  setDefault(spec, 'backoffLimit', spec['backoffLimitPerIndex'] === undefined ? 6 : 2 ** 31 - 1);
  setDefault(spec, 'completionMode', 'NonIndexed');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'manualSelector', false);
  setDefault(spec, 'podReplacementPolicy', isFields(spec['podFailurePolicy']) ? 'Failed' : 'TerminatingOrFailed');
}

export function setCronJobDefaults(cronJob: KubeObject): void {
  const spec = recordAt(cronJob, 'spec');
  setDefault(spec, 'concurrencyPolicy', 'Allow');
  setDefault(spec, 'suspend', false);
  setDefault(spec, 'successfulJobsHistoryLimit', 3);
  setDefault(spec, 'failedJobsHistoryLimit', 1);
  setTemplateDefaults(recordAt(recordAt(spec, 'jobTemplate'), 'spec'));
}

/** A job's pods are found by its UID, unless it brings a selector of its own. `pkg/registry/batch/job/strategy.go`. */
export function setJobSelector(job: KubeObject): void {
  const spec = recordAt(job, 'spec');
  if (spec['manualSelector'] === true) return;
  const uid = job.metadata.uid ?? '';
  const labels = recordAt(recordAt(recordAt(spec, 'template'), 'metadata'), 'labels');
  Object.assign(labels, {
    'controller-uid': uid,
    'batch.kubernetes.io/controller-uid': uid,
    'job-name': job.metadata.name,
    'batch.kubernetes.io/job-name': job.metadata.name,
  });
  spec['selector'] = { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } };
}

/** A replica set without labels takes those of its template. */
export function copyTemplateLabels(object: KubeObject): void {
  const labels = fieldsAt(fieldsAt(fieldsAt(fieldsAt(object, 'spec'), 'template'), 'metadata'), 'labels');
  if (Object.keys(labels).length === 0 || object.metadata.labels !== undefined) return;
  object.metadata.labels = Object.fromEntries(Object.keys(labels).map((key) => [key, textAt(labels, key)]));
}
