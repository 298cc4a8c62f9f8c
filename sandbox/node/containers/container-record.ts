import type { ContainerParameters } from './container-plan.ts';

/** The history of one container: the source of a pod's status. Times are milliseconds since 1970. */
export interface ContainerRecord {
  readonly name: string;
  readonly image: string;
  readonly state: ContainerState;
  /** How it ended before the present state. */
  readonly last?: Terminated;
  readonly restarts: number;
  readonly containerId?: string;
}

export type ContainerState = Waiting | Running | Terminated;

export interface Waiting {
  readonly kind: 'waiting';
  readonly reason: string;
  readonly message?: string;
}

export interface Running {
  readonly kind: 'running';
  readonly startedAt: number;
  readonly parameters: ContainerParameters;
}

export interface Terminated {
  readonly kind: 'terminated';
  /** `Completed`, `Error` or `OOMKilled`. */
  readonly reason: string;
  readonly exitCode: number;
  readonly startedAt: number;
  readonly finishedAt: number;
}

/** A container that has not been started yet. */
export function createRecord(container: { readonly name: string; readonly image: string }): ContainerRecord {
  return {
    name: container.name,
    image: container.image,
    state: { kind: 'waiting', reason: 'ContainerCreating' },
    restarts: 0,
  };
}

/** Whether the kubelet restarts it after it has ended. */
export function shallRestart(policy: string, end: Terminated): boolean {
  return policy === 'Always' || (policy === 'OnFailure' && end.exitCode !== 0);
}

/** It cannot run now, or not at all. */
export function waiting(record: ContainerRecord, reason: string, message: string): ContainerRecord {
  return { ...record, state: { kind: 'waiting', reason, message } };
}

/** Its process has started. */
export function running(record: ContainerRecord, state: Running, containerId: string): ContainerRecord {
  return { ...record, state, containerId };
}

/** It has ended and waits for its next start. */
export function backingOff(record: ContainerRecord, end: Terminated, delayMs: number): ContainerRecord {
  const message = `back-off ${delayMs / 1000}s restarting failed container=${record.name}`;
  return { ...waiting(record, 'CrashLoopBackOff', message), last: end };
}

/** It is about to be restarted. */
export function restarted(record: ContainerRecord, end: Terminated): ContainerRecord {
  return { ...record, last: end, restarts: record.restarts + 1 };
}

/** Why it ended, as the kubelet calls it. */
export function endReason(exitCode: number, wasOutOfMemory: boolean): string {
  if (wasOutOfMemory) return 'OOMKilled';
  return exitCode === 0 ? 'Completed' : 'Error';
}
