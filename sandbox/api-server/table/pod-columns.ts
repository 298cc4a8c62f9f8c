import {
  fieldsAt,
  isFields,
  listAt,
  numberAt,
  textAt,
  type Fields,
  type KubeObject,
} from '#sandbox/api-server/wire/object.ts';
import { type Cell, type Column, AGE_COLUMN, NAME_COLUMN, timeAge, column, orNone, wideColumn } from './column.ts';

/** The status of a pod in one word or so. `pkg/printers/internalversion/printers.go` printPod. */
export function podStatusText(pod: KubeObject): string {
  const status = fieldsAt(pod, 'status');
  const text = textAt(status, 'reason') || gatedText(status) || textAt(status, 'phase');
  const shown = containersText(status) ?? text;
  if (pod.metadata.deletionTimestamp === undefined) return shown;
  if (textAt(status, 'reason') === 'NodeLost') return 'Unknown';
  return isFinished(textAt(status, 'phase')) ? shown : 'Terminating';
}

function isFinished(phase: string): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

function gatedText(status: Fields): string {
  const gated = listAt(status, 'conditions').some(
    (condition) => condition['type'] === 'PodScheduled' && condition['reason'] === 'SchedulingGated',
  );
  return gated ? 'SchedulingGated' : '';
}

/** The last container in trouble names the pod's state; a pod that is both completed and running is running. */
function containersText(status: Fields): string | undefined {
  const statuses = listAt(status, 'containerStatuses');
  const texts = statuses.map((container) => containerText(fieldsAt(container, 'state'))).filter((text) => text !== '');
  const text = texts[0];
  if (text !== 'Completed') return text;
  const runs = statuses.some(
    (container) => container['ready'] === true && isFields(fieldsAt(container, 'state')['running']),
  );
  return runs ? 'Running' : text;
}

function containerText(state: Fields): string {
  const waiting = textAt(fieldsAt(state, 'waiting'), 'reason');
  if (waiting !== '') return waiting;
  const terminated = state['terminated'];
  if (!isFields(terminated)) return '';
  const signal = numberAt(terminated, 'signal') ?? 0;
  return (
    textAt(terminated, 'reason') ||
    (signal === 0 ? `ExitCode:${numberAt(terminated, 'exitCode') ?? 0}` : `Signal:${signal}`)
  );
}

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
