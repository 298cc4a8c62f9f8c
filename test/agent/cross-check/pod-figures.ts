import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { usage } from '#test/shared/domain/ranking/builders.ts';

/** A pod of which only its memory was measured. */
export function podUsage(uid: string, workingSetBytes: number): PodUsage {
  return usage({ uid, memory: { at: undefined, workingSetBytes } });
}
