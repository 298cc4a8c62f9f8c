import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { ageText } from '#shared/domain/base/texts.ts';

/** One column of what `kubectl get` prints. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: '' | 'name';
  /** Above 0: only with `-o wide`. */
  readonly priority: number;
  readonly description: string;
  readonly read: (object: KubeObject, now: number) => Cell;
}

/** What a cell may hold. */
export type Cell = string | number | boolean | null;

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

export const AGE_COLUMN = column('Age', 'string', (object, now) => timeAge(object.metadata.creationTimestamp, now));

/** The columns of kinds without their own. */
export const DEFAULT_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  {
    ...column('Created At', 'date', (object) => object.metadata.creationTimestamp ?? null),
    description: 'When the object was made',
  },
];

/** How long ago a time was: `3d4h`, `5m`; `<unknown>` without a time. */
export function timeAge(time: string | undefined, now: number): string {
  return ageText(time === undefined || time === '' ? undefined : Date.parse(time), now);
}

/** Text below a path, or `<none>`. */
export function orNone(text: string): Cell {
  return text === '' ? '<none>' : text;
}
