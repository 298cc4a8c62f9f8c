import { fieldsAt, numberAt, textAt, type KubeObject, scalarText } from '#sandbox/api-server/wire/object.ts';
import type { Cell, Column } from './column.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './default-columns.ts';

function bound(name: string): (budget: KubeObject) => Cell {
  return (budget) => {
    const value = fieldsAt(budget, 'spec')[name];
    return value === undefined ? 'N/A' : scalarText(value);
  };
}

export const PDB_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Min Available', 'string', bound('minAvailable')),
  column('Max Unavailable', 'string', bound('maxUnavailable')),
  column('Allowed Disruptions', 'integer', (budget) => numberAt(fieldsAt(budget, 'status'), 'disruptionsAllowed') ?? 0),
  AGE_COLUMN,
];

export const PRIORITY_CLASS_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Value', 'integer', (priorityClass) => numberAt(priorityClass, 'value') ?? 0),
  column(
    'Global-Default',
    'boolean',
    (priorityClass) => (priorityClass as { globalDefault?: unknown }).globalDefault === true,
  ),
  AGE_COLUMN,
  column('PreemptionPolicy', 'string', (priorityClass) => textAt(priorityClass, 'preemptionPolicy')),
];
