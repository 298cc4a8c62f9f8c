import type { Amounts } from '#shared/domain/model/amounts.ts';
import { createPodCounter, type CountedPod, type PodCount } from '#shared/domain/quota/pod-count.ts';

/** A count of these pods. */
export function countOf(hard: Amounts, pods: Iterable<CountedPod>): PodCount {
  const counter = createPodCounter(hard);
  for (const pod of pods) counter.add(pod);
  return counter.count();
}
