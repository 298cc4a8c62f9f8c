import {
  fieldsAt,
  listAt,
  numberAt,
  textAt,
  type Fields,
  type KubeObject,
  scalarText,
} from '#sandbox/api-server/wire/object.ts';
import type { Cell, Column } from './column.ts';
import { AGE_COLUMN, NAME_COLUMN, column, orNone, wideColumn } from './default-columns.ts';

function countOf(name: string): (object: KubeObject) => Cell {
  return (object) => Object.keys(fieldsAt(object, name)).length;
}

export const NAMESPACE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Status', 'string', (namespace) => textAt(fieldsAt(namespace, 'status'), 'phase')),
  AGE_COLUMN,
];

export const CONFIG_MAP_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Data', 'string', countOf('data')),
  AGE_COLUMN,
];

export const SECRET_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Type', 'string', (secret) => textAt(secret, 'type')),
  column('Data', 'string', countOf('data')),
  AGE_COLUMN,
];

export const SERVICE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Type', 'string', (service) => textAt(fieldsAt(service, 'spec'), 'type')),
  column('Cluster-IP', 'string', (service) => orNone(textAt(fieldsAt(service, 'spec'), 'clusterIP'))),
  column('External-IP', 'string', (service) => orNone(textAt(fieldsAt(service, 'spec'), 'externalName'))),
  column('Port(s)', 'string', (service) => orNone(listAt(fieldsAt(service, 'spec'), 'ports').map(portText).join(','))),
  AGE_COLUMN,
  wideColumn('Selector', (service) => orNone(pairs(fieldsAt(fieldsAt(service, 'spec'), 'selector')))),
];

function portText(port: Fields): string {
  const nodePort = numberAt(port, 'nodePort');
  return `${numberAt(port, 'port') ?? 0}${nodePort === undefined ? '' : `:${nodePort}`}/${textAt(port, 'protocol')}`;
}

/** `a=b,c=d`. */
export function pairs(labels: Fields): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');
}

export const QUOTA_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Request', 'string', (quota) => usageText(quota, (name) => !name.startsWith('limits.'))),
  column('Limit', 'string', (quota) => usageText(quota, (name) => name.startsWith('limits.'))),
  AGE_COLUMN,
];

function usageText(quota: KubeObject, isShown: (name: string) => boolean): Cell {
  const status = fieldsAt(quota, 'status');
  const hard = fieldsAt(status, 'hard');
  const used = fieldsAt(status, 'used');
  const names = Object.keys(hard).filter(isShown).sort();
  return names.map((name) => `${name}: ${scalarText(used[name] ?? '0')}/${scalarText(hard[name])}`).join(', ');
}
