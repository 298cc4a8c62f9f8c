import { describe, expect, test } from 'vitest';
import { planJob } from '#sandbox/controllers/plan-job.ts';
import type { Job, RunningPod } from '#sandbox/controllers/wire-workloads.ts';
import { inShort, NOW, pod, statusIn, template } from './build.ts';

describe('planJob', () => {
  const job: Job = {
    metadata: { name: 'report', namespace: 'team-a', uid: 'job' },
    spec: { completions: 2, parallelism: 2, backoffLimit: 1, template },
  };
  const of = (name: string, phase: string): RunningPod => pod(name, { owner: 'job', phase });

  test.each([
    ['starts what may run at once', [], ['create Pod of report', 'create Pod of report', 'patch report status']],
    ['starts no more than is left to do', [of('a', 'Succeeded')], ['create Pod of report', 'patch report status']],
    ['waits for what runs', [of('a', 'Running'), of('b', 'Running')], ['patch report status']],
    [
      'tries again after a failure',
      [of('a', 'Failed'), of('b', 'Running')],
      ['create Pod of report', 'patch report status'],
    ],
  ])('%s', (_what, pods, writes) => {
    expect(planJob(job, pods, NOW).map(inShort)).toEqual(writes);
  });

  test('is complete when enough have succeeded, and then left alone', () => {
    const status = statusIn(planJob(job, [of('a', 'Succeeded'), of('b', 'Succeeded')], NOW));
    expect(status).toMatchObject({
      succeeded: 2,
      conditions: [{ type: 'Complete', status: 'True' }],
      completionTime: '2026-01-01T00:00:00Z',
    });
    expect(planJob({ ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } }, [], NOW)).toEqual([]);
  });

  test('fails beyond its limit and stops what still runs', () => {
    const writes = planJob(job, [of('a', 'Failed'), of('b', 'Failed'), of('c', 'Running')], NOW);
    expect(writes.map(inShort)).toEqual(['delete c', 'patch report status']);
    expect(statusIn(writes)).toMatchObject({ conditions: [{ type: 'Failed', reason: 'BackoffLimitExceeded' }] });
  });

  test('runs nothing while it is suspended', () => {
    expect(planJob({ ...job, spec: { ...job.spec, suspend: true } }, [of('a', 'Running')], NOW).map(inShort)).toEqual([
      'delete a',
      'patch report status',
    ]);
  });
});
