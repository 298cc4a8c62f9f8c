import type { Instant } from '#shared/domain/pod/pod.ts';
import { type Measurements, NO_MEASUREMENTS, type PodUse } from '#shared/domain/rescheduling/pass-cluster.ts';
import {
  type ClusterSnapshot,
  isFreshReport,
  MAX_AGE_MS,
  type NodePressureFacts,
  type PodFigures,
} from '#shared/domain/snapshot/cluster-snapshot.ts';

/**
 * The memory use of nodes, and of the pods that agents name, according to fresh NodePressures, and the memory pressure
 * of these pods. A node without a fresh report has no measurement, and no pod is moved off it by usage.
 */
export function measurementsIn({ pressures }: ClusterSnapshot, now: Instant): Measurements {
  const fresh = [...pressures.values()].filter((facts) => isFresh(facts, now));
  if (fresh.length === 0) return NO_MEASUREMENTS;
  const ofNodes = new Map<string, PodUse>();
  const ofPods = new Map<string, PodUse>();
  const figures = new Map<string, PodFigures>();
  for (const { node, memory, pods } of fresh) {
    if (memory !== undefined) ofNodes.set(node, { cpu: 0, memory: memory.used });
    for (const [uid, used] of memory?.ofPods ?? []) ofPods.set(uid, { cpu: 0, memory: used });
    for (const [uid, each] of pods ?? []) figures.set(uid, each);
  }
  return {
    ofNode: (name) => ofNodes.get(name),
    ofPod: (uid) => ofPods.get(uid),
    figuresOf: (uid) => figures.get(uid),
  };
}

/** An agent reports every two minutes, and more often only while a threshold is met. */
function isFresh({ observedAt, pressure }: NodePressureFacts, now: Instant): boolean {
  return isFreshReport(observedAt, now, MAX_AGE_MS[pressure === undefined ? 'otherwise' : 'underPressure']);
}
