import { randomBytes } from 'node:crypto';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { type ContainerRecord, createRecord, shallRestart, type Terminated } from './container-record.ts';
import { planContainer } from './container-plan.ts';
import { createLogBuffer, type LogBuffer } from './log-buffer.ts';
import { nextRestart, type RestartBackoff } from './restart-delay.ts';
import type { DemoProcess, StartProcess } from './start-process.ts';
import type { WireContainer } from '#sandbox/node/pods/wire-pod.ts';

export interface ContainerPorts {
  readonly startProcess: StartProcess;
  readonly clock: Clock;
  readonly backoff: RestartBackoff;
}

export interface ContainerOptions {
  readonly container: WireContainer;
  readonly restartPolicy: string;
  readonly ports: ContainerPorts;
  /** Called after each change of the record. */
  readonly onChange: () => void;
}

/** One container through all its restarts. */
export interface ContainerRunner {
  readonly record: () => ContainerRecord;
  /** The running process's number. */
  readonly pid: () => number | undefined;
  /** Starts and restarts as the policy says; resolves with the last end, or `undefined` if it never could start. */
  run(signal: AbortSignal): Promise<Terminated | undefined>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Kills it as the kernel does when it passes its limit or the node has no memory left. */
  killForMemory(): void;
  /** What it wrote since its last start, or before that. */
  logs(previous: boolean): LogBuffer | undefined;
}

export function createContainerRunner(options: ContainerOptions): ContainerRunner {
  const { container, ports, onChange } = options;
  const { clock } = ports;
  let record = createRecord(container);
  let process: DemoProcess | undefined;
  let wasOutOfMemory = false;
  let log: LogBuffer | undefined;
  let previousLog: LogBuffer | undefined;

  function change(next: Partial<ContainerRecord>): void {
    record = { ...record, ...next };
    onChange();
  }

  async function run(signal: AbortSignal): Promise<Terminated | undefined> {
    let inARow = 0;
    for (;;) {
      const end = await runOnce(signal);
      if (end === undefined || isStopped(signal) || !shallRestart(options.restartPolicy, end)) return end;
      const next = nextRestart(ports.backoff, inARow, end.finishedAt - end.startedAt);
      inARow = next.restartsInARow;
      await waitForRestart(end, next.delayMs, signal);
      if (isStopped(signal)) return end;
    }
  }

  async function waitForRestart(end: Terminated, delayMs: number, signal: AbortSignal): Promise<void> {
    if (delayMs > 0) {
      const message = `back-off ${delayMs / 1000}s restarting failed container=${container.name}`;
      change({ state: { kind: 'waiting', reason: 'CrashLoopBackOff', message }, last: end });
      await clock.sleep(delayMs, signal);
      if (isStopped(signal)) change({ state: end });
    }
    if (!isStopped(signal)) change({ last: end, restarts: record.restarts + 1 });
  }

  async function runOnce(signal: AbortSignal): Promise<Terminated | undefined> {
    const plan = planContainer(container);
    if (isStopped(signal)) return undefined;
    if (plan.kind === 'refuse') {
      change({ state: { kind: 'waiting', reason: plan.reason, message: plan.message } });
      return undefined;
    }
    const startedAt = clock.now();
    const buffer = createLogBuffer(() => clock.now());
    try {
      process = await ports.startProcess(plan.parameters, buffer.write);
    } catch (error) {
      const message = `cannot start container: ${errorText(error)}`;
      change({ state: { kind: 'waiting', reason: 'RunContainerError', message } });
      return undefined;
    }
    [previousLog, log, wasOutOfMemory] = [log, buffer, false];
    const containerId = `plimsoll://${randomBytes(16).toString('hex')}`;
    change({ state: { kind: 'running', startedAt, parameters: plan.parameters }, containerId });
    // The order to stop may have come while the process was being started.
    if (isStopped(signal)) process.kill('SIGTERM');
    const end = settle(await process.ended, startedAt);
    buffer.close();
    return end;
  }

  function settle({ exitCode }: { readonly exitCode: number }, startedAt: number): Terminated {
    process = undefined;
    const reason = wasOutOfMemory ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error';
    const end: Terminated = { kind: 'terminated', reason, exitCode, startedAt, finishedAt: clock.now() };
    change({ state: end });
    return end;
  }

  return {
    record: () => record,
    pid: () => process?.pid,
    run,
    kill: (signal) => process?.kill(signal),
    killForMemory() {
      wasOutOfMemory = true;
      process?.kill('SIGKILL');
    },
    logs: (previous) => (previous ? previousLog : log),
  };
}

/** Asked anew after every wait. */
function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}
