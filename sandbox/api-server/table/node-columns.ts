import { fieldsAt, listAt, textAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Cell, Column } from './column.ts';
import { AGE_COLUMN, NAME_COLUMN, column, orNone, wideColumn } from './default-columns.ts';

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
