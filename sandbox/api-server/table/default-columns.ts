import type { Cell, Column } from './column.ts';

type Read = Column['read'];

/** A column that is always shown. */
export function column(name: string, type: Column['type'], read: Read): Column {
  return { name, type, format: '', priority: 0, description: name, read };
}

/** A column of `-o wide`. */
export function wideColumn(name: string, read: Read): Column {
  return { name, type: 'string', format: '', priority: 1, description: name, read };
}

export const NAME_COLUMN: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  priority: 0,
  description: 'Name of the object, unique within its namespace',
  read: (object) => object.metadata.name,
};

export const AGE_COLUMN = column('Age', 'string', (object, now) => ageText(object.metadata.creationTimestamp, now));

/** What is shown of kinds that have no columns of their own. */
export const DEFAULT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  {
    ...column('Created At', 'date', (object) => object.metadata.creationTimestamp ?? null),
    description: 'When the object was made',
  },
];

/** How long ago a time was: `3d4h`, `5m`; `<unknown>` without a time. `apimachinery/pkg/util/duration`. */
export function ageText(time: string | undefined, now: number): string {
  return time === undefined || time === '' ? '<unknown>' : durationText(Math.floor((now - Date.parse(time)) / 1000));
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Seconds as people read them; the longer, the coarser. */
export function durationText(seconds: number): string {
  if (seconds < -1) return '<invalid>';
  if (seconds < 2 * MINUTE) return `${Math.max(0, seconds)}s`;
  if (seconds < 10 * MINUTE) return two(seconds, MINUTE, 'm', 's');
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return two(Math.floor(seconds / MINUTE), 60, 'h', 'm');
  return longDurationText(seconds);
}

function longDurationText(seconds: number): string {
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return two(Math.floor(seconds / HOUR), 24, 'd', 'h');
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  return seconds < 8 * YEAR ? two(Math.floor(seconds / DAY), 365, 'y', 'd') : `${Math.floor(seconds / YEAR)}y`;
}

function two(value: number, size: number, large: string, small: string): string {
  const rest = value % size;
  return rest === 0 ? `${Math.floor(value / size)}${large}` : `${Math.floor(value / size)}${large}${rest}${small}`;
}

/** Text below a path, or `<none>`. */
export function orNone(text: string): Cell {
  return text === '' ? '<none>' : text;
}
