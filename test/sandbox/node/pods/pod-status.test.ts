import { describe, expect, test } from 'vitest';
import type { ContainerRecord, ContainerState } from '#sandbox/node/containers/container-record.ts';
import { podPhase, type PodFacts, podStatus } from '#sandbox/node/pods/pod-status.ts';

const START = Date.UTC(2026, 0, 1);
const parameters = {
  image: 'demo/service',
  memoryBytes: 0,
  growBytesPerSecond: 0,
  mostBytes: 0,
  milliCpu: 0,
  exitCode: 0,
  ignoresTerm: false,
};
const waiting: ContainerState = { kind: 'waiting', reason: 'ContainerCreating' };
const running: ContainerState = { kind: 'running', startedAt: START, parameters };
const succeeded = ended(0);
const failed = ended(1);

function ended(exitCode: number): Extract<ContainerState, { kind: 'terminated' }> {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { kind: 'terminated', reason, exitCode, startedAt: START, finishedAt: START + 2_000 };
}

function record(state: ContainerState, name = 'main'): ContainerRecord {
  return { name, image: 'demo/service', state, restarts: 0 };
}

describe('podPhase', () => {
  test.each([
    ['a container was never started', 'Always', [], [waiting], 'Pending'],
    ['an init container runs', 'Always', [running], [waiting], 'Pending'],
    ['an init container failed and is not started again', 'Never', [failed], [waiting], 'Failed'],
    ['an init container failed and is started again', 'OnFailure', [failed], [waiting], 'Pending'],
    ['one container of two runs', 'Always', [succeeded], [running, waiting], 'Running'],
    ['a container ended that is started again', 'Always', [], [succeeded], 'Running'],
    ['all ended well', 'OnFailure', [], [succeeded, succeeded], 'Succeeded'],
    ['one ended badly and is not started again', 'Never', [], [succeeded, failed], 'Failed'],
    ['one ended badly and is started again', 'OnFailure', [], [succeeded, failed], 'Running'],
  ])('when %s', (_when, restartPolicy, init, main, phase) => {
    const progress = {
      restartPolicy,
      initContainers: init.map((state) => record(state)),
      containers: main.map((state) => record(state)),
      isEnding: false,
    };
    expect(podPhase(progress)).toBe(phase);
  });

  test('a pod that is being ended starts nothing again', () => {
    const progress = { restartPolicy: 'Always', initContainers: [], containers: [record(succeeded)], isEnding: true };
    expect(podPhase(progress)).toBe('Succeeded');
    expect(podPhase({ ...progress, containers: [record(ended(137))] })).toBe('Failed');
  });
});

describe('podStatus', () => {
  const facts: PodFacts = {
    spec: { containers: [{ name: 'main', image: 'demo/service' }] },
    generation: 1,
    initContainers: [],
    containers: [record(running)],
    isEnding: false,
    startTime: START,
    hostIP: '127.0.0.1',
    podIP: '10.244.0.2',
    conditions: [],
  };

  test('says that a running pod is ready', () => {
    const status = podStatus(facts, START + 1_000);
    expect(status.phase).toBe('Running');
    expect(status.conditions.map(({ type, status: value }) => `${type}=${value}`)).toEqual([
      'PodReadyToStartContainers=True',
      'Initialized=True',
      'Ready=True',
      'ContainersReady=True',
    ]);
    expect(status.containerStatuses[0]).toMatchObject({ ready: true, started: true, restartCount: 0 });
  });

  test('names the containers that are not ready', () => {
    const status = podStatus({ ...facts, containers: [record(waiting, 'web')] }, START);
    expect(status.conditions).toContainEqual({
      type: 'Ready',
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [web]',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
  });

  test('moves the time of a condition only when it changes', () => {
    const before = podStatus(facts, START).conditions;
    const later = podStatus({ ...facts, conditions: before }, START + 60_000).conditions;
    expect(later).toEqual(before);
    const ending = podStatus({ ...facts, conditions: before, isEnding: true }, START + 60_000).conditions;
    expect(ending.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      lastTransitionTime: '2026-01-01T00:01:00Z',
    });
  });

  test('takes back the state that was there before, because a merge patch would keep it', () => {
    const status = podStatus({ ...facts, containers: [{ ...record(succeeded), last: failed, restarts: 1 }] }, START);
    expect(status.containerStatuses[0]).toMatchObject({
      restartCount: 1,
      state: { waiting: null, running: null, terminated: { exitCode: 0, reason: 'Completed' } },
      lastState: { terminated: { exitCode: 1, reason: 'Error', finishedAt: '2026-01-01T00:00:02Z' } },
    });
  });
});
