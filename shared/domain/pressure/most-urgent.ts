import { resourceOf } from './signal.ts';
import type { Threshold } from './threshold.ts';
import { isHard } from './threshold.ts';

/**
 * The threshold to act on: memory before the rest, as the kubelet sorts (`byEvictionPriority`), and where its answer
 * hangs on the order of a map, hard before soft and then as configured. `undefined` if there is none.
 */
export function mostUrgent(due: readonly Threshold[]): Threshold | undefined {
  return due.toSorted((left, right) => urgency(left) - urgency(right))[0];
}

function urgency(threshold: Threshold): number {
  const isMemory = resourceOf(threshold.signal) === 'memory';
  return (isMemory ? 0 : 2) + (isHard(threshold) ? 0 : 1);
}
