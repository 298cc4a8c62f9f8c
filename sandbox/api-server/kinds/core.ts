import {
  EVENT_COLUMNS,
  NODE_COLUMNS,
  CONFIG_MAP_COLUMNS,
  NAMESPACE_COLUMNS,
  QUOTA_COLUMNS,
  SECRET_COLUMNS,
  SERVICE_COLUMNS,
} from '#sandbox/api-server/table/object-columns.ts';
import { POD_COLUMNS } from '#sandbox/api-server/table/pod-columns.ts';
import { WORKLOAD_COLUMNS } from '#sandbox/api-server/table/workload-columns.ts';
import { EVENTS } from '#sandbox/api-server/storage-names.ts';
import { fieldsOf, type Fields, type KubeObject, fieldsAt } from '#sandbox/api-server/wire/object.ts';
import {
  prepareNamespace,
  prepareService,
  setNamespaceDefaults,
  setSecretDefaults,
  setServiceDefaults,
} from './cluster-defaults.ts';
import { EVENT_FIELDS, NAMESPACE_FIELDS, NODE_FIELDS, POD_FIELDS, SECRET_FIELDS } from './field-readers.ts';
import { SCALE, status, type KindSpec } from './kind-spec.ts';
import { setPodDefaults, preparePod, setReplicationControllerDefaults } from './workload-defaults.ts';
import { validatePod } from './validation/validate-pod.ts';
import { validatePodUpdate } from './validation/validate-pod-update.ts';
import { validateQuota, validateQuotaUpdate } from './validation/validate-quota.ts';
import { type FieldError, invalidValue } from '#sandbox/api-server/errors/field-error.ts';

/** Names of the same field in core/v1, where Events are stored, and in events.k8s.io/v1. */
const RENAMED: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

const TO_CORE = new Map(RENAMED.map(([core, events]) => [events, core]));
const TO_EVENTS = new Map(RENAMED);

/** An Event of events.k8s.io/v1 as core/v1 has it. `pkg/apis/core/v1/conversion.go`. */
function eventToStorage(event: KubeObject): KubeObject {
  return renamed(event, TO_CORE, 'v1');
}

/** A stored Event as events.k8s.io/v1 has it. */
function eventFromStorage(event: KubeObject): KubeObject {
  return renamed(event, TO_EVENTS, 'events.k8s.io/v1');
}

function renamed(event: KubeObject, names: ReadonlyMap<string, string>, apiVersion: string): KubeObject {
  const result: Fields = {};
  for (const [name, value] of Object.entries(fieldsOf(event))) result[names.get(name) ?? name] = value;
  result['apiVersion'] = apiVersion;
  return result as unknown as KubeObject;
}

const ALL = ['all'];
const core = { group: '', version: 'v1' };

/** core/v1 and the second face of its Events. */
export const CORE: readonly KindSpec[] = [
  {
    ...core,
    kind: 'Pod',
    plural: 'pods',
    namespaced: true,
    shortNames: ['po'],
    categories: ALL,
    subresources: [
      status('Pod', ''),
      { name: 'binding', kind: 'Binding', group: '', version: 'v1', verbs: ['create'] },
      { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
      { name: 'log', kind: 'Pod', group: '', version: 'v1', verbs: ['get'] },
      { name: 'resize', kind: 'Pod', group: '', version: 'v1', verbs: ['get', 'patch', 'update'] },
    ],
    behaviour: {
      hasGeneration: true,
      hasStatus: true,
      returnsDeleted: true,
      setDefaults: setPodDefaults,
      prepareCreate: preparePod,
      validate: validatePod,
      validateUpdate: validatePodUpdate,
    },
    columns: POD_COLUMNS,
    fieldReaders: POD_FIELDS,
  },
  {
    ...core,
    kind: 'Node',
    plural: 'nodes',
    namespaced: false,
    shortNames: ['no'],
    subresources: [status('Node', '')],
    behaviour: { hasStatus: true, isCreatedWithStatus: true },
    columns: NODE_COLUMNS,
    fieldReaders: NODE_FIELDS,
  },
  {
    ...core,
    kind: 'Namespace',
    plural: 'namespaces',
    namespaced: false,
    shortNames: ['ns'],
    subresources: [
      status('Namespace', ''),
      { name: 'finalize', kind: 'Namespace', group: '', version: 'v1', verbs: ['update'] },
    ],
    behaviour: {
      nameRule: 'label',
      hasStatus: true,
      returnsDeleted: true,
      setDefaults: setNamespaceDefaults,
      prepareCreate: prepareNamespace,
      validateUpdate: validateNamespaceUpdate,
    },
    columns: NAMESPACE_COLUMNS,
    fieldReaders: NAMESPACE_FIELDS,
  },
  {
    ...core,
    kind: 'Event',
    plural: 'events',
    namespaced: true,
    shortNames: ['ev'],
    storage: EVENTS,
    behaviour: { isCreatedByPut: true },
    columns: EVENT_COLUMNS,
    fieldReaders: EVENT_FIELDS,
  },
  {
    group: 'events.k8s.io',
    version: 'v1',
    kind: 'Event',
    plural: 'events',
    namespaced: true,
    shortNames: ['ev'],
    storage: EVENTS,
    behaviour: { isCreatedByPut: true },
    columns: EVENT_COLUMNS,
    fieldReaders: EVENT_FIELDS,
    toStorage: eventToStorage,
    fromStorage: eventFromStorage,
  },
  {
    ...core,
    kind: 'Service',
    plural: 'services',
    namespaced: true,
    shortNames: ['svc'],
    categories: ALL,
    subresources: [status('Service', '')],
    behaviour: {
      nameRule: 'label',
      hasStatus: true,
      isCreatedByPut: true,
      returnsDeleted: true,
      setDefaults: setServiceDefaults,
      prepareCreate: prepareService,
    },
    columns: SERVICE_COLUMNS,
  },
  {
    ...core,
    kind: 'Endpoints',
    plural: 'endpoints',
    namespaced: true,
    shortNames: ['ep'],
    behaviour: { isCreatedByPut: true },
  },
  {
    ...core,
    kind: 'ConfigMap',
    plural: 'configmaps',
    namespaced: true,
    shortNames: ['cm'],
    columns: CONFIG_MAP_COLUMNS,
  },
  {
    ...core,
    kind: 'Secret',
    plural: 'secrets',
    namespaced: true,
    behaviour: { setDefaults: setSecretDefaults },
    columns: SECRET_COLUMNS,
    fieldReaders: SECRET_FIELDS,
  },
  {
    ...core,
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    namespaced: true,
    shortNames: ['sa'],
    behaviour: { returnsDeleted: true },
  },
  {
    ...core,
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    namespaced: true,
    shortNames: ['quota'],
    subresources: [status('ResourceQuota', '')],
    behaviour: { validate: validateQuota, validateUpdate: validateQuotaUpdate, hasStatus: true, returnsDeleted: true },
    columns: QUOTA_COLUMNS,
  },
  {
    ...core,
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    namespaced: true,
    shortNames: ['rc'],
    categories: ALL,
    subresources: [status('ReplicationController', ''), SCALE],
    behaviour: { hasGeneration: true, hasStatus: true, setDefaults: setReplicationControllerDefaults },
    columns: WORKLOAD_COLUMNS,
  },
  {
    ...core,
    kind: 'PersistentVolume',
    plural: 'persistentvolumes',
    namespaced: false,
    shortNames: ['pv'],
    subresources: [status('PersistentVolume', '')],
    behaviour: { hasStatus: true, returnsDeleted: true },
  },
  {
    ...core,
    kind: 'PersistentVolumeClaim',
    plural: 'persistentvolumeclaims',
    namespaced: true,
    shortNames: ['pvc'],
    subresources: [status('PersistentVolumeClaim', '')],
    behaviour: { hasStatus: true, returnsDeleted: true },
  },
];

const NAME_LABEL = 'kubernetes.io/metadata.name';

/** A namespace keeps its name as a label. `pkg/apis/core/validation/validation.go` ValidateNamespaceUpdate. */
function validateNamespaceUpdate(next: KubeObject): FieldError[] {
  const value = fieldsAt(next.metadata, 'labels')[NAME_LABEL];
  if (value === next.metadata.name) return [];
  return [invalidValue(`metadata.labels[${NAME_LABEL}]`, value, `must be equal to ${next.metadata.name}`)];
}
