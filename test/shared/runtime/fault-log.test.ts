import { beforeEach, expect, test } from 'vitest';
import { faultLog, reportRounds } from '#shared/runtime/fault-log.ts';

let lines: unknown[] = [];
let log = {} as Parameters<typeof faultLog>[0];
beforeEach(() => {
  lines = [];
  const note = (fields: object, message: string): void => void lines.push([fields, message]);
  log = { warn: note, info: note } as never;
});

test('a fault is logged when it begins, when it becomes another one, and when it is over', () => {
  const faults = faultLog(log, 'Status not written');
  for (let attempt = 0; attempt < 5; attempt += 1) faults.failed('limit a', { kind: 'forbidden', message: 'no' });
  faultLog(log, 'Status not written').answered('limit b', { kind: 'forbidden', message: 'no' });
  faultLog(log, 'Status not written').answered('limit b', { kind: 'forbidden', message: 'no' });
  faults.failed('limit a', { kind: 'timeout', message: 'late' });
  faults.worked('limit a');
  faults.answered('limit a', { kind: 'ok' });
  faults.failed('limit a', { kind: 'timeout', message: 'late' });
  expect(lines).toEqual([
    [{ object: 'limit a', fault: 'forbidden', message: 'no' }, 'Status not written'],
    [{ object: 'limit b', fault: 'forbidden', message: 'no' }, 'Status not written'],
    [{ object: 'limit a', fault: 'timeout', message: 'late' }, 'Status not written'],
    [{ object: 'limit a' }, 'Status not written: resolved'],
    [{ object: 'limit a', fault: 'timeout', message: 'late' }, 'Status not written'],
  ]);
});

test('a thousand objects with a fault are logged, and one line for all others', () => {
  const faults = faultLog(log, 'Pod not let in');
  for (let round = 0; round < 3; round += 1)
    for (let pod = 0; pod < 1500; pod += 1) faults.failed(`pod-${pod}`, { kind: 'forbidden', message: 'no' });
  expect(lines).toHaveLength(1001);
  expect(lines.at(-1)).toEqual([{ objects: 1000 }, 'Pod not let in: further objects are not logged']);
});

test('an error that rounds throw is logged once while only its numbers change, and another one again', () => {
  const { onError, onDone } = reportRounds(log, 'Pass failed');
  onDone();
  for (const version of [1, 2, 30]) onError(new Error(`cannot write: version ${version} is outdated`));
  onError(new Error('cannot read'));
  onDone();
  onDone();
  expect(lines.map((line) => (line as [object, string])[1])).toEqual([
    'Pass failed',
    'Pass failed',
    'Pass failed: resolved',
  ]);
});

test('another log has faults of its own', () => {
  faultLog(log, 'Pass failed').failed('a', { kind: 'timeout', message: 'late' });
  const other = { ...log };
  faultLog(other, 'Pass failed').failed('a', { kind: 'timeout', message: 'late' });
  expect(lines).toHaveLength(2);
});
