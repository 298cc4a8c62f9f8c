import { fieldsAt, listAt, textAt } from '#sandbox/api-server/wire/object.ts';
import type { Column } from './column.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './default-columns.ts';

export const LEASE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Holder', 'string', (lease) => textAt(fieldsAt(lease, 'spec'), 'holderIdentity')),
  AGE_COLUMN,
];

export const WEBHOOK_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Webhooks', 'integer', (configuration) => listAt(configuration, 'webhooks').length),
  AGE_COLUMN,
];

export const CRD_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  {
    ...column('Created At', 'date', (definition) => definition.metadata.creationTimestamp ?? null),
    description: 'When the definition was made',
  },
];
