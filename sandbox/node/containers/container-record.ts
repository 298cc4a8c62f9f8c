import type { ContainerParameters } from './container-plan.ts';

/** What became of one container so far: all a pod's status is made of. Times are milliseconds since 1970. */
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

/** Whether the kubelet starts it again, now that it has ended. */
export function shallRestart(policy: string, end: Terminated): boolean {
  return policy === 'Always' || (policy === 'OnFailure' && end.exitCode !== 0);
}
