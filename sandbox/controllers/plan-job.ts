import { timeText } from '#sandbox/api-server/wire/object.ts';
import { PODS, type Resource } from '#shared/kube/resource.ts';
import { isActive, isReady, type Job, ownedBy, type RunningPod } from './wire-workloads.ts';
import { createPod, referenceTo, statusPatch, type Write } from './write.ts';

/** Jobs are not among the kinds that Plimsoll itself reads, so their address is here. */
export const JOBS: Resource = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true };

const DEFAULT_BACKOFF_LIMIT = 6;

interface JobTally {
  readonly active: readonly RunningPod[];
  readonly succeeded: number;
  readonly failed: number;
}

/** Runs pods until enough have succeeded or too many have failed (`pkg/controller/job/job_controller.go`). */
export function planJob(job: Job, pods: readonly RunningPod[], now: number): readonly Write[] {
  if (job.metadata.deletionTimestamp !== undefined || isFinished(job)) return [];
  const owned = ownedBy(job, pods);
  const tally = {
    active: owned.filter(isActive),
    succeeded: owned.filter(({ status }) => status?.phase === 'Succeeded').length,
    failed: owned.filter(({ status }) => status?.phase === 'Failed').length,
  };
  const ending = endOf(job, tally);
  return [...(ending === undefined ? run(job, tally) : stop(tally)), ...report(job, tally, ending, now)];
}

function isFinished({ status }: Job): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: value }) => value === 'True' && (type === 'Complete' || type === 'Failed'),
  );
}

interface Ending {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

function endOf({ spec }: Job, { succeeded, failed }: JobTally): Ending | undefined {
  if (failed > (spec.backoffLimit ?? DEFAULT_BACKOFF_LIMIT)) {
    const message = 'Job has reached the specified backoff limit';
    return { type: 'Failed', reason: 'BackoffLimitExceeded', message };
  }
  if (succeeded < wantedCompletions(spec)) return undefined;
  return { type: 'Complete', reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
}

/** Without a number one success is enough, as for a work queue. */
function wantedCompletions(spec: Job['spec']): number {
  return spec.completions ?? 1;
}

function run(job: Job, { active, succeeded }: JobTally): readonly Write[] {
  const { parallelism = 1, suspend = false } = job.spec;
  const wanted = suspend ? 0 : Math.min(parallelism, wantedCompletions(job.spec) - succeeded);
  const missing = wanted - active.length;
  if (missing <= 0) return active.slice(wanted).map(deletion);
  const owner = referenceTo(job, 'batch/v1', 'Job');
  const create = (): Write => createPod(job, owner, job.spec.template);
  return Array.from({ length: missing }, create);
}

function stop({ active }: JobTally): readonly Write[] {
  return active.map(deletion);
}

function deletion(object: RunningPod): Write {
  return { kind: 'delete', resource: PODS, object };
}

function report(job: Job, tally: JobTally, ending: Ending | undefined, now: number): readonly Write[] {
  const time = timeText(now);
  return statusPatch(JOBS, job, {
    startTime: job.status?.startTime ?? time,
    active: tally.active.length,
    ready: tally.active.filter(isReady).length,
    succeeded: tally.succeeded,
    failed: tally.failed,
    ...(ending !== undefined && {
      conditions: [{ ...ending, status: 'True', lastProbeTime: time, lastTransitionTime: time }],
    }),
    ...(ending?.type === 'Complete' && { completionTime: time }),
  });
}
