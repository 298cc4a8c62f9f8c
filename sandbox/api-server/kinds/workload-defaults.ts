import {
  fieldsAt,
  isFields,
  textAt,
  type Fields,
  type KubeObject,
  listAt,
  fieldsOf,
} from '#sandbox/api-server/wire/object.ts';
import { recordAt, setDefault } from '#sandbox/api-server/set-default.ts';
import { qosClass } from '#shared/domain/pod/pod-requests.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';

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

/** A replication controller without a selector selects by its template's labels. */
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

/** A job's pods are found by its UID, unless it has its own selector. `pkg/registry/batch/job/strategy.go`. */
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

/** Fills in a pod as `pkg/apis/core/v1/defaults.go` does. */
export function setPodDefaults(pod: KubeObject): void {
  setPodSpecDefaults(recordAt(pod, 'spec'), true);
  recordAt(pod, 'status');
}

/** A pod's spec; inside a template requests are not taken from limits. */
function setPodSpecDefaults(spec: Fields, isPod: boolean): void {
  setDefault(spec, 'restartPolicy', 'Always');
  setDefault(spec, 'terminationGracePeriodSeconds', 30);
  setDefault(spec, 'dnsPolicy', 'ClusterFirst');
  setDefault(spec, 'securityContext', {});
  setDefault(spec, 'schedulerName', 'default-scheduler');
  if (isPod) setDefault(spec, 'enableServiceLinks', true);
  if (spec['serviceAccountName'] !== undefined) setDefault(spec, 'serviceAccount', spec['serviceAccountName']);
  for (const container of [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')])
    setContainerDefaults(container, spec, isPod);
  for (const volume of listAt(spec, 'volumes')) setVolumeDefaults(volume);
}

function setContainerDefaults(container: Fields, spec: Fields, isPod: boolean): void {
  setDefault(container, 'terminationMessagePath', '/dev/termination-log');
  setDefault(container, 'terminationMessagePolicy', 'File');
  setDefault(container, 'imagePullPolicy', isLatest(textAt(container, 'image')) ? 'Always' : 'IfNotPresent');
  const resources = recordAt(container, 'resources');
  if (isPod && isFields(resources['limits']))
    resources['requests'] = { ...resources['limits'], ...fieldsAt(resources, 'requests') };
  for (const port of listAt(container, 'ports')) setPortDefaults(port, spec);
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) setProbeDefaults(container[probe]);
  for (const variable of listAt(container, 'env')) setFieldReferenceDefaults(fieldsAt(variable, 'valueFrom'));
}

/** An image without tag, or with the tag `latest`, is pulled every time. */
function isLatest(image: string): boolean {
  if (image.includes('@')) return false;
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1];
  return tag === undefined || tag === 'latest';
}

function setPortDefaults(port: Fields, spec: Fields): void {
  setDefault(port, 'protocol', 'TCP');
  if (spec['hostNetwork'] === true && port['hostPort'] === undefined) port['hostPort'] = port['containerPort'];
}

function setProbeDefaults(probe: unknown): void {
  if (!isFields(probe)) return;
  setDefault(probe, 'timeoutSeconds', 1);
  setDefault(probe, 'periodSeconds', 10);
  setDefault(probe, 'successThreshold', 1);
  setDefault(probe, 'failureThreshold', 3);
  const request = probe['httpGet'];
  if (!isFields(request)) return;
  setDefault(request, 'path', '/');
  setDefault(request, 'scheme', 'HTTP');
}

function setFieldReferenceDefaults(source: Fields): void {
  const reference = source['fieldRef'];
  if (isFields(reference)) setDefault(reference, 'apiVersion', 'v1');
}

const FILE_MODE = 0o644;

function setVolumeDefaults(volume: Fields): void {
  for (const source of ['configMap', 'secret', 'downwardAPI', 'projected']) {
    const value = volume[source];
    if (isFields(value)) setDefault(value, 'defaultMode', FILE_MODE);
  }
  const hostPath = volume['hostPath'];
  if (isFields(hostPath)) setDefault(hostPath, 'type', '');
  if (Object.keys(volume).length === 1) volume['emptyDir'] = {};
}

/** The status of a new pod, regardless of what the client sent. `pkg/registry/core/pod/strategy.go`. */
export function preparePod(pod: KubeObject): void {
  const decoded = decodePod(pod);
  fieldsOf(pod)['status'] = { phase: 'Pending', ...(decoded.ok ? { qosClass: qosClass(decoded.value) } : {}) };
}
