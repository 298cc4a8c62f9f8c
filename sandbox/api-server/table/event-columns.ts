import { fieldsAt, numberAt, textAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { Cell, Column } from './column.ts';
import { NAME_COLUMN, timeAge, column, wideColumn } from './default-columns.ts';

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
