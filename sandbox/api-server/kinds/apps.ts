import {
  CRON_JOB_COLUMNS,
  DAEMON_SET_COLUMNS,
  DEPLOYMENT_COLUMNS,
  JOB_COLUMNS,
  STATEFUL_SET_COLUMNS,
  WORKLOAD_COLUMNS,
} from '#sandbox/api-server/table/workload-columns.ts';
import { JOB_FIELDS, REPLICA_SET_FIELDS } from './field-readers.ts';
import { SCALE, status, type KindSpec } from './kind-spec.ts';
import type { Behaviour } from '#sandbox/api-server/resource-type.ts';
import {
  validateCronJob,
  validateJob,
  validateJobUpdate,
  validateWorkload,
  validateWorkloadUpdate,
} from './validation/validate-workload.ts';
import {
  copyTemplateLabels,
  setCronJobDefaults,
  setDaemonSetDefaults,
  setDeploymentDefaults,
  setJobDefaults,
  setJobSelector,
  setReplicaSetDefaults,
  setStatefulSetDefaults,
} from './workload-defaults.ts';

const ALL = ['all'];
const apps = { group: 'apps', version: 'v1', namespaced: true };
const batch = { group: 'batch', version: 'v1', namespaced: true };

const WORKLOAD: Partial<Behaviour> = {
  hasGeneration: true,
  hasStatus: true,
  validate: validateWorkload,
  validateUpdate: validateWorkloadUpdate,
};

/** apps/v1 and batch/v1. */
export const APPS: readonly KindSpec[] = [
  {
    ...apps,
    kind: 'Deployment',
    plural: 'deployments',
    shortNames: ['deploy'],
    categories: ALL,
    subresources: [status('Deployment', 'apps'), SCALE],
    behaviour: { ...WORKLOAD, setDefaults: setDeploymentDefaults },
    columns: DEPLOYMENT_COLUMNS,
  },
  {
    ...apps,
    kind: 'ReplicaSet',
    plural: 'replicasets',
    shortNames: ['rs'],
    categories: ALL,
    subresources: [status('ReplicaSet', 'apps'), SCALE],
    behaviour: { ...WORKLOAD, setDefaults: setReplicaSetDefaults, prepareCreate: copyTemplateLabels },
    columns: WORKLOAD_COLUMNS,
    fieldReaders: REPLICA_SET_FIELDS,
  },
  {
    ...apps,
    kind: 'StatefulSet',
    plural: 'statefulsets',
    shortNames: ['sts'],
    categories: ALL,
    subresources: [status('StatefulSet', 'apps'), SCALE],
    behaviour: { ...WORKLOAD, setDefaults: setStatefulSetDefaults },
    columns: STATEFUL_SET_COLUMNS,
  },
  {
    ...apps,
    kind: 'DaemonSet',
    plural: 'daemonsets',
    shortNames: ['ds'],
    categories: ALL,
    subresources: [status('DaemonSet', 'apps')],
    behaviour: { ...WORKLOAD, setDefaults: setDaemonSetDefaults },
    columns: DAEMON_SET_COLUMNS,
  },
  { ...apps, kind: 'ControllerRevision', plural: 'controllerrevisions' },
  {
    ...batch,
    kind: 'Job',
    plural: 'jobs',
    categories: ALL,
    subresources: [status('Job', 'batch')],
    behaviour: {
      hasGeneration: true,
      hasStatus: true,
      setDefaults: setJobDefaults,
      prepareCreate: setJobSelector,
      validate: validateJob,
      validateUpdate: validateJobUpdate,
    },
    columns: JOB_COLUMNS,
    fieldReaders: JOB_FIELDS,
  },
  {
    ...batch,
    kind: 'CronJob',
    plural: 'cronjobs',
    shortNames: ['cj'],
    categories: ALL,
    subresources: [status('CronJob', 'batch')],
    behaviour: {
      hasGeneration: true,
      hasStatus: true,
      setDefaults: setCronJobDefaults,
      validate: validateCronJob,
      validateUpdate: validateCronJob,
    },
    columns: CRON_JOB_COLUMNS,
  },
];
