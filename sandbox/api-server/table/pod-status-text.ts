import {
  fieldsAt,
  isFields,
  listAt,
  numberAt,
  textAt,
  type Fields,
  type KubeObject,
} from '#sandbox/api-server/wire/object.ts';

/** The one word (or so) that says how a pod is. `pkg/printers/internalversion/printers.go` printPod. */
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
