import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { markedEnvironment } from '#test/cluster/leftovers.ts';

/** The scheduler process as it is shipped. */
export interface SchedulerProcess {
  readonly healthPort: number;
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../../scheduler/main.ts', import.meta.url));

/** Starts it on loopback, without TLS, and waits until it says so; it ends with the run that the kubeconfig belongs to. */
export async function startSchedulerProcess(
  kubeconfig: string,
  port: number,
  flags: readonly string[] = [],
): Promise<SchedulerProcess> {
  const where = [`--kubeconfig=${kubeconfig}`, '--host=127.0.0.1', `--port=${port}`];
  const args = [MAIN, ...where, '--health-host=127.0.0.1', '--health-port=0', '--drain-seconds=0', ...flags];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: markedEnvironment(dirname(kubeconfig)),
  });
  const exit = once(child, 'exit');
  const healthPort = await started(createInterface({ input: child.stdout }));
  child.stdout.resume();
  return {
    healthPort,
    stop: async () => {
      child.kill('SIGTERM');
      await exit;
    },
  };
}

async function started(lines: AsyncIterable<string>): Promise<number> {
  const said: string[] = [];
  for await (const line of lines) {
    said.push(line);
    if (line.includes('Scheduler started')) return (JSON.parse(line) as { healthPort: number }).healthPort;
  }
  throw new Error(`the scheduler process did not start: ${said.join('\n')}`);
}
