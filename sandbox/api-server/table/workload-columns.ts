import { durationText } from '#shared/domain/base/texts.ts';
import { fieldsAt, listAt, numberAt, textAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { type Cell, type Column, AGE_COLUMN, NAME_COLUMN, timeAge, column, orNone, wideColumn } from './column.ts';
import { pairs } from './object-columns.ts';

function specNumber(name: string): (object: KubeObject) => number {
  return (object) => numberAt(fieldsAt(object, 'spec'), name) ?? 0;
}

function statusNumber(name: string): (object: KubeObject) => number {
  return (object) => numberAt(fieldsAt(object, 'status'), name) ?? 0;
}

function templateContainers(object: KubeObject, field: string): Cell {
  const podSpec = fieldsAt(fieldsAt(fieldsAt(object, 'spec'), 'template'), 'spec');
  return listAt(podSpec, 'containers')
    .map((container) => textAt(container, field))
    .join(',');
}

const WIDE: readonly Column[] = [
  wideColumn('Containers', (object) => templateContainers(object, 'name')),
  wideColumn('Images', (object) => templateContainers(object, 'image')),
  wideColumn('Selector', (object) =>
    orNone(pairs(fieldsAt(fieldsAt(fieldsAt(object, 'spec'), 'selector'), 'matchLabels'))),
  ),
];

export const DEPLOYMENT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Ready', 'string', (object) => `${statusNumber('readyReplicas')(object)}/${specNumber('replicas')(object)}`),
  column('Up-to-date', 'string', statusNumber('updatedReplicas')),
  column('Available', 'string', statusNumber('availableReplicas')),
  AGE_COLUMN,
  ...WIDE,
];

/** Of replica sets and replication controllers. */
export const WORKLOAD_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Desired', 'integer', specNumber('replicas')),
  column('Current', 'integer', statusNumber('replicas')),
  column('Ready', 'integer', statusNumber('readyReplicas')),
  AGE_COLUMN,
  ...WIDE,
];

export const STATEFUL_SET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Ready', 'string', (object) => `${statusNumber('readyReplicas')(object)}/${specNumber('replicas')(object)}`),
  AGE_COLUMN,
  ...WIDE.slice(0, 2),
];

export const DAEMON_SET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Desired', 'integer', statusNumber('desiredNumberScheduled')),
  column('Current', 'integer', statusNumber('currentNumberScheduled')),
  column('Ready', 'integer', statusNumber('numberReady')),
  column('Up-to-date', 'integer', statusNumber('updatedNumberScheduled')),
  column('Available', 'integer', statusNumber('numberAvailable')),
  AGE_COLUMN,
  ...WIDE,
];

export const JOB_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Status', 'string', jobStatus),
  column(
    'Completions',
    'string',
    (job) => `${statusNumber('succeeded')(job)}/${numberAt(fieldsAt(job, 'spec'), 'completions') ?? 1}`,
  ),
  column('Duration', 'string', jobDuration),
  AGE_COLUMN,
  ...WIDE,
];

function jobStatus(job: KubeObject): Cell {
  const holds = (type: string): boolean =>
    listAt(fieldsAt(job, 'status'), 'conditions').some(
      (condition) => condition['type'] === type && condition['status'] === 'True',
    );
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp !== undefined) return 'Terminating';
  return holds('Suspended') ? 'Suspended' : 'Running';
}

function jobDuration(job: KubeObject, now: number): Cell {
  const status = fieldsAt(job, 'status');
  const start = textAt(status, 'startTime');
  if (start === '') return '';
  const end = textAt(status, 'completionTime');
  return end === '' ? timeAge(start, now) : durationText(Math.floor((Date.parse(end) - Date.parse(start)) / 1000));
}

export const CRON_JOB_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Schedule', 'string', (job) => textAt(fieldsAt(job, 'spec'), 'schedule')),
  column('Timezone', 'string', (job) => orNone(textAt(fieldsAt(job, 'spec'), 'timeZone'))),
  column('Suspend', 'string', (job) => (fieldsAt(job, 'spec')['suspend'] === true ? 'True' : 'False')),
  column('Active', 'integer', (job) => listAt(fieldsAt(job, 'status'), 'active').length),
  column('Last Schedule', 'string', (job, now) => {
    const last = textAt(fieldsAt(job, 'status'), 'lastScheduleTime');
    return last === '' ? '<none>' : timeAge(last, now);
  }),
  AGE_COLUMN,
  ...WIDE,
];
