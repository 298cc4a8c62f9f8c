import {
  fieldsAt,
  listAt,
  numberAt,
  textAt,
  type Fields,
  type KubeObject,
  scalarText,
} from '#sandbox/api-server/wire/object.ts';
import { type Cell, type Column, AGE_COLUMN, NAME_COLUMN, column, orNone, wideColumn, timeAge } from './column.ts';

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

/** What `kubectl get events` prints; reads the stored core/v1 form. */
export const EVENT_COLUMNS: readonly Column[] = [
  column('Last Seen', 'string', lastSeen),
  column('Type', 'string', (event) => textAt(event, 'type')),
  column('Reason', 'string', (event) => textAt(event, 'reason')),
  column('Object', 'string', objectText),
  wideColumn('Subobject', (event) => textAt(fieldsAt(event, 'involvedObject'), 'fieldPath')),
  wideColumn(
    'Source',
    (event) => textAt(fieldsAt(event, 'source'), 'component') || textAt(event, 'reportingComponent'),
  ),
  column('Message', 'string', (event) => textAt(event, 'message').trim()),
  wideColumn('First Seen', (event, now) => timeAge(textAt(event, 'firstTimestamp') || textAt(event, 'eventTime'), now)),
  wideColumn('Count', countText),
  { ...NAME_COLUMN, priority: 1 },
];

function lastSeen(event: KubeObject, now: number): Cell {
  const series = fieldsAt(event, 'series');
  return timeAge(
    textAt(series, 'lastObservedTime') || textAt(event, 'lastTimestamp') || textAt(event, 'eventTime'),
    now,
  );
}

function objectText(event: KubeObject): Cell {
  const regarding = fieldsAt(event, 'involvedObject');
  const kind = textAt(regarding, 'kind').toLowerCase();
  const name = textAt(regarding, 'name');
  return name === '' ? kind : `${kind}/${name}`;
}

function countText(event: KubeObject): Cell {
  return String(numberAt(fieldsAt(event, 'series'), 'count') ?? numberAt(event, 'count') ?? 1);
}

function info(name: string): (node: KubeObject) => Cell {
  return (node) => textAt(fieldsAt(fieldsAt(node, 'status'), 'nodeInfo'), name) || '<unknown>';
}

function address(type: string): (node: KubeObject) => Cell {
  return (node) => {
    const found = listAt(fieldsAt(node, 'status'), 'addresses').find((entry) => entry['type'] === type);
    return found === undefined ? '<none>' : textAt(found, 'address');
  };
}

/** What `kubectl get nodes` prints. */
export const NODE_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Status', 'string', statusText),
  column('Roles', 'string', rolesText),
  AGE_COLUMN,
  column('Version', 'string', (node) => textAt(fieldsAt(fieldsAt(node, 'status'), 'nodeInfo'), 'kubeletVersion')),
  wideColumn('Internal-IP', address('InternalIP')),
  wideColumn('External-IP', address('ExternalIP')),
  wideColumn('OS-Image', info('osImage')),
  wideColumn('Kernel-Version', info('kernelVersion')),
  wideColumn('Container-Runtime', info('containerRuntimeVersion')),
];

function statusText(node: KubeObject): Cell {
  const ready = listAt(fieldsAt(node, 'status'), 'conditions').find((condition) => condition['type'] === 'Ready');
  const text = ready === undefined ? 'Unknown' : ready['status'] === 'True' ? 'Ready' : 'NotReady';
  return fieldsAt(node, 'spec')['unschedulable'] === true ? `${text},SchedulingDisabled` : text;
}

const ROLE = 'node-role.kubernetes.io/';

function rolesText(node: KubeObject): Cell {
  const roles = Object.keys(node.metadata.labels ?? {})
    .filter((label) => label.startsWith(ROLE))
    .map((label) => label.slice(ROLE.length));
  return orNone(roles.sort().join(','));
}

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
