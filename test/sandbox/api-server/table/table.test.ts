import { describe, expect, test } from 'vitest';
import { timeAge } from '#sandbox/api-server/table/column.ts';
import { podStatusText } from '#sandbox/api-server/table/pod-columns.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

test('a time that is missing has no age', () => {
  expect([timeAge(undefined, 0), timeAge('1970-01-01T00:00:00Z', 5_000)]).toEqual(['<unknown>', '5s']);
});

describe('podStatusText', () => {
  const pod = (status: object, metadata: object = {}): KubeObject =>
    ({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'p', ...metadata }, status }) as KubeObject;
  const container = (state: object, ready = false): object => ({ containerStatuses: [{ state, ready }] });
  const ending = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  test.each<[string, KubeObject, string]>([
    ['its phase', pod({ phase: 'Running' }), 'Running'],
    ['the reason of its end', pod({ phase: 'Failed', reason: 'Evicted' }), 'Evicted'],
    [
      'why a container waits',
      pod({ phase: 'Running', ...container({ waiting: { reason: 'CrashLoopBackOff' } }) }),
      'CrashLoopBackOff',
    ],
    [
      'why a container ended',
      pod({ phase: 'Failed', ...container({ terminated: { reason: 'OOMKilled' } }) }),
      'OOMKilled',
    ],
    [
      'an exit code without reason',
      pod({ phase: 'Failed', ...container({ terminated: { exitCode: 3 } }) }),
      'ExitCode:3',
    ],
    ['a signal without reason', pod({ phase: 'Failed', ...container({ terminated: { signal: 9 } }) }), 'Signal:9'],
    ['that it ends', pod({ phase: 'Running' }, ending), 'Terminating'],
    [
      'how it ended although it is being deleted',
      pod({ phase: 'Succeeded', ...container({ terminated: { reason: 'Completed' } }) }, ending),
      'Completed',
    ],
    [
      'that a gate holds it',
      pod({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }),
      'SchedulingGated',
    ],
  ])('shows %s', (_, object, text) => {
    expect(podStatusText(object)).toBe(text);
  });
});
