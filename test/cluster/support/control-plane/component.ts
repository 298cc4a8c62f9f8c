import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

/** One program of the control plane. */
export interface Component {
  start(): void;
  /** Resolves when the process is gone. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** Of the latest start, none before. */
  pid(): number | undefined;
  /** Whether it was started and is gone. */
  hasEnded(): boolean;
  /** The end of its log, for a failure message. */
  lastWords(): string;
}

/**
 * A program with its flags and log file; it can be started and stopped again and again. The environment is this
 * process's own by default.
 */
export function component(
  path: string,
  flags: readonly string[],
  logFile: string,
  env: NodeJS.ProcessEnv = process.env,
): Component {
  let child: ChildProcess | undefined;
  const hasEnded = (): boolean => child !== undefined && (child.exitCode !== null || child.signalCode !== null);
  return {
    start: () => {
      const log = openSync(logFile, 'a');
      child = spawn(path, flags, { stdio: ['ignore', log, log], env });
      closeSync(log);
    },
    stop: async (signal) => {
      if (child === undefined || hasEnded()) return;
      const ended = new Promise((resolve) => child?.once('exit', resolve));
      child.kill(signal);
      await ended;
    },
    pid: () => child?.pid,
    hasEnded,
    lastWords: () => readFileSync(logFile, 'utf8').split('\n').slice(-20).join('\n'),
  };
}
