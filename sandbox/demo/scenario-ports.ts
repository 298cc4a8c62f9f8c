import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { ReviewedPreemption } from '#sandbox/follow-scheduler.ts';
import type { Narrator } from '#sandbox/narrator.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { PlannedPod } from './plan-scenario.ts';
import type { ShownEvent } from './show-events.ts';

/** What the scenario uses. */
export interface ScenarioPorts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly narrator: Narrator;
  readonly nodeName: string;
  /** Bytes of the node's memory that are free now. */
  readonly availableBytes: () => number;
  /** Relevant Events so far. */
  readonly shown: readonly ShownEvent[];
  /** Preemptions that Plimsoll's scheduler process changed so far. */
  readonly reviews: readonly ReviewedPreemption[];
  readonly signal: AbortSignal;
}

const POLL_MS = 50;

/** Retries until there is an answer; `undefined` if the deadline or the end of the sandbox comes first. */
export async function poll<T>(
  { clock, signal }: ScenarioPorts,
  deadlineMs: number,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const giveUpAt = clock.monotonic() + deadlineMs;
  while (!signal.aborted && clock.monotonic() < giveUpAt) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await clock.sleep(POLL_MS, signal);
  }
  return undefined;
}

/** A pod in the words of the story. */
export function describe({ namespace, name, priorityClass }: PlannedPod): string {
  return `${namespace}/${name} (${priorityClass})`;
}

/** The parts of a pod's status that the story looks at. */
export interface PodState {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  readonly containerStatuses?: readonly { readonly restartCount: number }[];
}

export function stateOf(pod: KubeObject): PodState {
  return pod['status'] ?? {};
}

export function isReady(pod: KubeObject): boolean {
  return (stateOf(pod).conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');
}

export function isLeaving(pod: KubeObject): boolean {
  return pod.metadata.deletionTimestamp !== undefined || stateOf(pod).phase === 'Failed';
}

export function hasRestarted(pod: KubeObject): boolean {
  return (stateOf(pod).containerStatuses ?? []).some(({ restartCount }) => restartCount > 0);
}
