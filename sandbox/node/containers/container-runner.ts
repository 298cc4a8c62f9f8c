import { randomBytes } from 'node:crypto';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { WireContainer } from '#sandbox/node/wire-pod.ts';
import {
  backingOff,
  type ContainerRecord,
  createRecord,
  endReason,
  restarted,
  running,
  shallRestart,
  type Terminated,
  waiting,
} from './container-record.ts';
import { type ContainerParameters, planContainer } from './container-plan.ts';
import { createLogBuffer, type LogBuffer } from './log-buffer.ts';
import type { DemoProcess, StartProcess } from './start-process.ts';

/** The kubelet's back-off: 10 s, doubled up to 5 min, forgotten after 10 min of running well. */
export interface RestartBackoff {
  readonly initialMs: number;
  readonly mostMs: number;
  readonly forgetAfterMs: number;
}

export const KUBELET_BACKOFF: RestartBackoff = { initialMs: 10_000, mostMs: 300_000, forgetAfterMs: 600_000 };

/**
 * The pause before the next start, in milliseconds, and how many consecutive pauses there were. The first restart is
 * immediate (`pkg/kubelet/kuberuntime/kuberuntime_manager.go` doBackOff).
 */
export function nextRestart(
  backoff: RestartBackoff,
  restartsInARow: number,
  ranMs: number,
): { readonly delayMs: number; readonly restartsInARow: number } {
  const inARow = ranMs >= backoff.forgetAfterMs ? 0 : restartsInARow;
  const delayMs = inARow === 0 ? 0 : Math.min(backoff.mostMs, backoff.initialMs * 2 ** (inARow - 1));
  return { delayMs, restartsInARow: inARow + 1 };
}

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
export class ContainerRunner {
  readonly #options: ContainerOptions;
  #record: ContainerRecord;
  #process: DemoProcess | undefined;
  #wasOutOfMemory = false;
  #log: LogBuffer | undefined;
  #previousLog: LogBuffer | undefined;

  constructor(options: ContainerOptions) {
    this.#options = options;
    this.#record = createRecord(options.container);
  }

  record(): ContainerRecord {
    return this.#record;
  }

  /** The running process's number. */
  pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Starts and restarts as the policy says; resolves with the last end, or `undefined` if it never could start. */
  async run(signal: AbortSignal): Promise<Terminated | undefined> {
    const { restartPolicy, ports } = this.#options;
    let inARow = 0;
    for (;;) {
      const end = await this.#runOnce(signal);
      if (end === undefined || isStopped(signal) || !shallRestart(restartPolicy, end)) return end;
      const next = nextRestart(ports.backoff, inARow, end.finishedAt - end.startedAt);
      inARow = next.restartsInARow;
      await this.#waitForRestart(end, next.delayMs, signal);
      if (isStopped(signal)) return end;
    }
  }

  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#process?.kill(signal);
  }

  /** Kills it as the kernel does when it passes its limit or the node has no memory left. */
  killForMemory(): void {
    this.#wasOutOfMemory = true;
    this.kill('SIGKILL');
  }

  /** What it wrote since its last start, or before that. */
  logs(previous: boolean): LogBuffer | undefined {
    return previous ? this.#previousLog : this.#log;
  }

  #change(record: ContainerRecord): void {
    this.#record = record;
    this.#options.onChange();
  }

  async #waitForRestart(end: Terminated, delayMs: number, signal: AbortSignal): Promise<void> {
    if (delayMs > 0) {
      this.#change(backingOff(this.#record, end, delayMs));
      await this.#options.ports.clock.sleep(delayMs, signal);
      if (isStopped(signal)) this.#change({ ...this.#record, state: end });
    }
    if (!isStopped(signal)) this.#change(restarted(this.#record, end));
  }

  async #runOnce(signal: AbortSignal): Promise<Terminated | undefined> {
    const plan = planContainer(this.#options.container);
    if (isStopped(signal)) return undefined;
    if (plan.kind === 'refuse') {
      this.#change(waiting(this.#record, plan.reason, plan.message));
      return undefined;
    }
    const { clock } = this.#options.ports;
    const startedAt = clock.now();
    const buffer = createLogBuffer(() => clock.now());
    const process = await this.#start(plan.parameters, buffer);
    if (process === undefined) return undefined;
    [this.#process, this.#previousLog, this.#log, this.#wasOutOfMemory] = [process, this.#log, buffer, false];
    this.#change(running(this.#record, { kind: 'running', startedAt, parameters: plan.parameters }, newContainerId()));
    // The request to stop may have come while the process was being started.
    if (isStopped(signal)) process.kill('SIGTERM');
    const { exitCode } = await process.ended;
    const end = this.#settle(exitCode, startedAt);
    buffer.close();
    return end;
  }

  async #start(parameters: ContainerParameters, { write }: LogBuffer): Promise<DemoProcess | undefined> {
    try {
      return await this.#options.ports.startProcess(parameters, write);
    } catch (error) {
      const message = `cannot start container: ${errorText(error)}`;
      this.#change(waiting(this.#record, 'RunContainerError', message));
      return undefined;
    }
  }

  #settle(exitCode: number, startedAt: number): Terminated {
    this.#process = undefined;
    const reason = endReason(exitCode, this.#wasOutOfMemory);
    const finishedAt = this.#options.ports.clock.now();
    const end: Terminated = { kind: 'terminated', reason, exitCode, startedAt, finishedAt };
    this.#change({ ...this.#record, state: end });
    return end;
  }
}

function newContainerId(): string {
  return `plimsoll://${randomBytes(16).toString('hex')}`;
}

/** Checked again after every wait. */
function isStopped(signal: AbortSignal): boolean {
  return signal.aborted;
}
