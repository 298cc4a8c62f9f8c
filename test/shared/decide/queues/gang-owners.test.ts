import { describe, expect, test } from 'vitest';
import { gangTimes } from '#shared/decide/queues/gang-times.ts';
import { halfGangs } from '#shared/decide/queues/half-gangs.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const owned = (kind: string, name: string, more: Readonly<Record<string, string>> = {}): Partial<WatchedPod> => ({
  owners: [{ apiVersion: 'x/v1', kind, name, uid: `uid of ${kind} ${name}`, controller: true }],
  labels: { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '3', ...more },
});
const JOB = owned('Job', 'train');
const JOB_SET = { 'jobset.sigs.k8s.io/jobset-name': 'train' };
const KUBEFLOW = { 'training.kubeflow.org/job-name': 'train' };
const [DRIVER, WORKERS] = [owned('Job', 'train-driver-0', JOB_SET), owned('Job', 'train-workers-0', JOB_SET)];
const [LAUNCHER, MPI] = [owned('Job', 'train-launcher', KUBEFLOW), owned('MPIJob', 'train', KUBEFLOW)];
const TORCH = owned('PyTorchJob', 'train', KUBEFLOW);
const [HEAD, GROUP] = [owned('StatefulSet', 'train'), owned('StatefulSet', 'train-0')];

const RAN = { admittedTo: 'of-shop', admittedAs: { name: 'train', min: 3 }, node: 'node-0' } as const;
const RUNS = { ...RAN, phase: 'Running' };
const SUCCEEDED = { ...RAN, phase: 'Succeeded' };
const FAILED = { ...RAN, phase: 'Failed' };
/** On a node that is dead: it ends for as long as its kubelet is silent. */
const ENDS = { ...RUNS, deletionAt: 60 };
const WAITS = { gates: [GATE], createdAt: 30 };

/** What becomes of it: whether its waiting pods may go in, and whether it goes back two minutes later. */
function fateOf(pods: readonly Partial<WatchedPod>[]) {
  const world = queueWorld([queueFor('shop')]);
  for (const [index, pod] of pods.entries()) world.see({ name: `pod-${index}`, ...pod });
  const { gangs, outOfGang, starting, letIn, snapshot } = { ...world, ...world.plan() };
  const now = 150_000;
  const facts = { snapshot, now, timeoutMs: 60_000, plannedFor: () => undefined, graceSecondsOf: () => 0 };
  const halves = halfGangs(gangs, { ...facts, times: gangTimes(gangs, new Map(), now) });
  const entering = [...starting.flatMap(({ members = [] }) => members), ...letIn].length;
  return { entering, waits: outOfGang.map(({ because }) => because.text), goesBack: halves.length > 0 };
}

const WHOLE = { entering: 0, waits: [], goesBack: false };
/** The one that waits goes in with those that run, which go back if that takes too long. */
const COMES = { entering: 1, waits: [], goesBack: true };
const INCOMPLETE = { entering: 0, waits: ['waits for 1 of 3 pods of gang shop/train'], goesBack: true };

describe('a pod that has succeeded is not missing, one that is replaced comes', () => {
  test.each([
    ['a Job: one succeeded', [JOB, JOB, JOB], [SUCCEEDED, RUNS, RUNS], WHOLE],
    ['a Job: one succeeded, one replaced', [JOB, JOB, JOB], [SUCCEEDED, RUNS, WAITS], COMES],
    ['a Job: one failed and not yet replaced (back-off)', [JOB, JOB, JOB], [RUNS, RUNS, FAILED], WHOLE],
    ['a Job: one failed and replaced', [JOB, JOB, JOB, JOB], [RUNS, RUNS, FAILED, WAITS], COMES],
    ['podReplacementPolicy Failed: one ends', [JOB, JOB, JOB], [RUNS, RUNS, ENDS], { ...WHOLE, goesBack: true }],
    ['podReplacementPolicy TerminatingOrFailed', [JOB, JOB, JOB, JOB], [RUNS, RUNS, ENDS, WAITS], COMES],
    ['a JobSet: one Job succeeded', [DRIVER, WORKERS, WORKERS], [SUCCEEDED, RUNS, RUNS], WHOLE],
    ['a JobSet: one Job succeeded, one pod replaced', [DRIVER, WORKERS, WORKERS], [SUCCEEDED, RUNS, WAITS], COMES],
    [
      'a JobSet: all that is left is replaced',
      [DRIVER, WORKERS, WORKERS],
      [SUCCEEDED, WAITS, WAITS],
      { ...COMES, entering: 2, goesBack: false },
    ],
    ['an MPIJob: launcher succeeded, a worker replaced', [LAUNCHER, MPI, MPI], [SUCCEEDED, RUNS, WAITS], COMES],
    ['an MPIJob: launcher failed and retried', [LAUNCHER, LAUNCHER, MPI, MPI], [FAILED, WAITS, RUNS, RUNS], COMES],
    ['a PyTorchJob: a worker succeeded, one replaced', [TORCH, TORCH, TORCH], [SUCCEEDED, RUNS, WAITS], COMES],
    ['a LeaderWorkerSet: a worker replaced', [HEAD, GROUP, GROUP], [RUNS, RUNS, WAITS], COMES],
    [
      'a LeaderWorkerSet: a worker on a dead node',
      [HEAD, GROUP, GROUP],
      [RUNS, RUNS, ENDS],
      { ...WHOLE, goesBack: true },
    ],
  ] as const)('%s', (_, owners, states, expected) => {
    expect(fateOf(owners.map((owner, index) => ({ ...owner, ...states[index] })))).toEqual(expected);
  });
});

describe('what succeeded in another run does not count', () => {
  const EARLIER = owned('Job', 'earlier');
  const [FORMER_SET, NEW_SET] = ['former', 'new'].map((uid) =>
    owned('Job', uid, { ...JOB_SET, 'jobset.sigs.k8s.io/jobset-uid': uid }),
  );
  test.each([
    ['of an earlier Job of the same gang', [EARLIER, JOB, JOB], [SUCCEEDED, RUNS, WAITS]],
    ['of a JobSet that was deleted and made again', [FORMER_SET, NEW_SET, NEW_SET], [SUCCEEDED, RUNS, WAITS]],
    ['of a JobSet that starts again', [DRIVER, WORKERS, WORKERS], [{ ...SUCCEEDED, deletionAt: 99 }, RUNS, WAITS]],
  ] as const)('%s', (_, owners, states) => {
    expect(fateOf(owners.map((owner, index) => ({ ...owner, ...states[index] })))).toEqual(INCOMPLETE);
  });
});
