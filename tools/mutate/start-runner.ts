import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, RunnerOutcome } from './runner.ts';

/** Runs tests against mutants, one after the other. */
export interface Runner {
  /** The runner's answer; `timedOut` if there was none in time; the next order then starts a new process. */
  run(order: Order, withinMs: number): Promise<RunnerOutcome | 'timedOut'>;
  stop(): void;
}

const RUNNER = fileURLToPath(new URL('./runner.ts', import.meta.url));

/** A runner whose process group is killed when a mutant never ends. */
export function createRunner(): Runner {
  const running: { child?: ChildProcess } = {};

  async function ready(): Promise<ChildProcess> {
    if (running.child !== undefined) return running.child;
    const child = fork(RUNNER, { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    running.child = child;
    await once(child, 'message');
    return child;
  }

  function stop(): void {
    if (running.child?.pid !== undefined) process.kill(-running.child.pid, 'SIGKILL');
    delete running.child;
  }

  return {
    run: async (order, withinMs) => {
      const child = await ready();
      child.send(order);
      try {
        const [outcome] = (await once(child, 'message', { signal: AbortSignal.timeout(withinMs) })) as [RunnerOutcome];
        return outcome;
      } catch {
        stop();
        return 'timedOut';
      }
    },
    stop,
  };
}
