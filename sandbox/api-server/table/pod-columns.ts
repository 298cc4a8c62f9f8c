import {
  fieldsAt,
  isFields,
  listAt,
  numberAt,
  textAt,
  type Fields,
  type KubeObject,
} from '#sandbox/api-server/wire/object.ts';
import type { Cell, Column } from './column.ts';
import { AGE_COLUMN, NAME_COLUMN, timeAge, column, orNone, wideColumn } from './default-columns.ts';
import { podStatusText } from './pod-status-text.ts';

/** What `kubectl get pods` prints. `pkg/printers/internalversion/printers.go` printPod. */
export const POD_COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('Ready', 'string', readyText),
  column('Status', 'string', podStatusText),
  column('Restarts', 'string', restartsText),
  AGE_COLUMN,
  wideColumn('IP', (pod) => orNone(textAt(fieldsAt(pod, 'status'), 'podIP'))),
  wideColumn('Node', (pod) => orNone(textAt(fieldsAt(pod, 'spec'), 'nodeName'))),
  wideColumn('Nominated Node', (pod) => orNone(textAt(fieldsAt(pod, 'status'), 'nominatedNodeName'))),
  wideColumn('Readiness Gates', readinessGatesText),
];

function containerStatuses(pod: KubeObject): readonly Fields[] {
  return listAt(fieldsAt(pod, 'status'), 'containerStatuses');
}

function readyText(pod: KubeObject): Cell {
  const ready = containerStatuses(pod).filter((status) => status['ready'] === true).length;
  return `${ready}/${listAt(fieldsAt(pod, 'spec'), 'containers').length}`;
}

function restartsText(pod: KubeObject, now: number): Cell {
  const statuses = containerStatuses(pod);
  const count = statuses.reduce((sum, status) => sum + (numberAt(status, 'restartCount') ?? 0), 0);
  const ends = statuses.map((status) => textAt(fieldsAt(fieldsAt(status, 'lastState'), 'terminated'), 'finishedAt'));
  const last = ends
    .filter((end) => end !== '')
    .sort()
    .at(-1);
  return count === 0 || last === undefined ? String(count) : `${count} (${timeAge(last, now)} ago)`;
}

function readinessGatesText(pod: KubeObject): Cell {
  const gates = listAt(fieldsAt(pod, 'spec'), 'readinessGates').map((gate) => textAt(gate, 'conditionType'));
  if (gates.length === 0) return '<none>';
  const met = listAt(fieldsAt(pod, 'status'), 'conditions').filter(
    (condition) => isFields(condition) && gates.includes(textAt(condition, 'type')) && condition['status'] === 'True',
  );
  return `${met.length}/${gates.length}`;
}
