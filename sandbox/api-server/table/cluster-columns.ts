import { fieldsAt, listAt, textAt, type Fields } from '#sandbox/api-server/wire/object.ts';
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

export const ADMISSION_POLICY_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Validations', 'integer', (policy) => listAt(fieldsAt(policy, 'spec'), 'validations').length),
  column('ParamKind', 'string', (policy) => paramKindText(fieldsAt(fieldsAt(policy, 'spec'), 'paramKind'))),
  AGE_COLUMN,
];

export const POLICY_BINDING_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('PolicyName', 'string', (binding) => textAt(fieldsAt(binding, 'spec'), 'policyName')),
  column('ParamRef', 'string', (binding) => paramRefText(fieldsAt(fieldsAt(binding, 'spec'), 'paramRef'))),
  AGE_COLUMN,
];

function paramKindText(paramKind: Fields): string {
  const kind = textAt(paramKind, 'kind');
  return kind === '' ? UNSET : `${textAt(paramKind, 'apiVersion')}/${kind}`;
}

function paramRefText(reference: Fields): string {
  const [namespace, name] = [textAt(reference, 'namespace'), textAt(reference, 'name')];
  if (name === '') return reference['selector'] === undefined ? UNSET : '*';
  return namespace === '' ? name : `${namespace}/${name}`;
}

const UNSET = '<unset>';

export const CRD_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  {
    ...column('Created At', 'date', (definition) => definition.metadata.creationTimestamp ?? null),
    description: 'When the definition was made',
  },
];
