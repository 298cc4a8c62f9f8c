import { fieldsAt, isFields, listAt, textAt, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { recordAt, setDefault } from '#sandbox/api-server/set-default.ts';

/** Fills in a pod as `pkg/apis/core/v1/defaults.go` does. */
export function setPodDefaults(pod: KubeObject): void {
  setPodSpecDefaults(recordAt(pod, 'spec'), true);
  recordAt(pod, 'status');
}

/** A pod's spec; inside a template requests are not taken from limits. */
export function setPodSpecDefaults(spec: Fields, isPod: boolean): void {
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
