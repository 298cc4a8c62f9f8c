import { resourceOf } from './signal.ts';
import type { Threshold } from './threshold.ts';
import { isHard } from './threshold.ts';

/**
 * The thresholds to act on, the most urgent first: memory before the rest, as the kubelet sorts (`byEvictionPriority`),
 * and where its answer hangs on the order of a map, hard before soft and then as configured.
 */
export function byUrgency(due: readonly Threshold[]): readonly Threshold[] {
  return due.toSorted((left, right) => urgency(left) - urgency(right));
}

function urgency(threshold: Threshold): number {
  const isMemory = resourceOf(threshold.signal) === 'memory';
  return (isMemory ? 0 : 2) + (isHard(threshold) ? 0 : 1);
}
