import { expect, test } from 'vitest';
import { createFaultLog } from '#shared/runtime/fault-log.ts';

test('a fault is logged when it begins, when it becomes another one, and when it is over', () => {
  const lines: unknown[] = [];
  const note = (fields: object, message: string): void => void lines.push([fields, message]);
  const faults = createFaultLog({ warn: note, info: note } as never, 'Status not written');
  for (let attempt = 0; attempt < 5; attempt += 1) faults.failed('limit a', { kind: 'forbidden', message: 'no' });
  faults.failed('limit b', { kind: 'forbidden', message: 'no' });
  faults.failed('limit a', { kind: 'timeout', message: 'late' });
  faults.worked('limit a');
  faults.worked('limit a');
  faults.failed('limit a', { kind: 'timeout', message: 'late' });
  expect(lines).toEqual([
    [{ object: 'limit a', fault: 'forbidden', message: 'no' }, 'Status not written'],
    [{ object: 'limit b', fault: 'forbidden', message: 'no' }, 'Status not written'],
    [{ object: 'limit a', fault: 'timeout', message: 'late' }, 'Status not written'],
    [{ object: 'limit a' }, 'Status not written: resolved'],
    [{ object: 'limit a', fault: 'timeout', message: 'late' }, 'Status not written'],
  ]);
});
