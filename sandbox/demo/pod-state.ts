import type { KubeObject } from '#shared/kube/kube-object.ts';

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
