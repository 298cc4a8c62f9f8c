import type { Pod } from './pod.ts';

const ENDED: readonly (string | undefined)[] = ['Succeeded', 'Failed'];

/** Whether all containers of the pod have terminated for good: it takes no more room. */
export function hasEnded({ status }: Pick<Pod, 'status'>): boolean {
  return ENDED.includes(status.phase);
}
