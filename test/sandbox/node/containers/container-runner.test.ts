import { describe, expect, test } from 'vitest';
import { ContainerRunner, KUBELET_BACKOFF } from '#sandbox/node/containers/container-runner.ts';
import type { ProcessEnd, StartProcess } from '#sandbox/node/containers/start-process.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

/** Processes that end on a signal. */
function fakeProcesses() {
  const ends: ((end: ProcessEnd) => void)[] = [];
  const kills: string[] = [];
  const startProcess: StartProcess = () => {
    const { promise, resolve } = Promise.withResolvers<ProcessEnd>();
    ends.push(resolve);
    const kill = (signal: 'SIGTERM' | 'SIGKILL'): void => {
      kills.push(signal);
      if (signal === 'SIGKILL') resolve({ exitCode: 137, signal });
    };
    return Promise.resolve({ pid: ends.length, ended: promise, kill });
  };
  const end = (exitCode: number): void => ends.at(-1)?.({ exitCode, signal: null });
  return { startProcess, end, kills };
}

function setUp(restartPolicy: string, image = 'demo/service') {
  const clock = manualClock();
  const processes = fakeProcesses();
  const ports = { startProcess: processes.startProcess, clock, backoff: KUBELET_BACKOFF };
  const runner = new ContainerRunner({
    container: { name: 'main', image },
    restartPolicy,
    ports,
    onChange: () => undefined,
  });
  const stopping = new AbortController();
  const finished = runner.run(stopping.signal);
  return { clock, runner, stopping, finished, ...processes };
}

describe('ContainerRunner', () => {
  test('restarts at once, then after a back-off', async () => {
    const { clock, runner, end } = setUp('Always');
    await clock.advance(1_000);
    end(1);
    await clock.advance(0);
    expect(runner.record()).toMatchObject({
      restarts: 1,
      state: { kind: 'running' },
      last: { exitCode: 1, reason: 'Error' },
    });
    end(1);
    await clock.advance(9_000);
    expect(runner.record().state).toEqual({
      kind: 'waiting',
      reason: 'CrashLoopBackOff',
      message: 'back-off 10s restarting failed container=main',
    });
    await clock.advance(1_000);
    expect(runner.record()).toMatchObject({ restarts: 2, state: { kind: 'running' } });
  });

  test('does not restart what ended well under OnFailure', async () => {
    const { clock, finished, end } = setUp('OnFailure');
    await clock.advance(0);
    end(0);
    expect(await finished).toMatchObject({ exitCode: 0, reason: 'Completed' });
  });

  test('says that it was killed for memory', async () => {
    const { clock, runner, finished } = setUp('Never');
    await clock.advance(0);
    runner.killForMemory();
    expect(await finished).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });

  test('is not started again once it shall stop, neither now nor after a back-off', async () => {
    const { clock, runner, stopping, finished, end } = setUp('Always');
    await clock.advance(0);
    end(1);
    await clock.advance(0);
    end(1);
    await clock.advance(1_000);
    stopping.abort();
    expect(await finished).toMatchObject({ exitCode: 1 });
    expect(runner.record()).toMatchObject({ restarts: 1, state: { kind: 'terminated' } });
  });

  test('waits for ever with an image that does not exist', async () => {
    const { runner, finished } = setUp('Always', 'nginx');
    expect(await finished).toBeUndefined();
    expect(runner.record().state).toMatchObject({ kind: 'waiting', reason: 'ImagePullBackOff' });
  });
});
