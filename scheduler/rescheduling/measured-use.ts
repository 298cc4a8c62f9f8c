import type { Instant } from '#shared/domain/pod/pod.ts';
import { type Measurements, NO_MEASUREMENTS, type PodUse } from '#shared/domain/rescheduling/pass-cluster.ts';
import { type ClusterSnapshot, isFreshReport } from '#shared/domain/snapshot/cluster-snapshot.ts';

/**
 * What fresh NodePressures say of the use of memory: of their nodes, and of the pods that their agents name. A node without
 * a fresh report has no measurement, and nothing is moved off it by usage.
 */
export function measurementsIn({ pressures }: ClusterSnapshot, now: Instant): Measurements {
  const fresh = [...pressures.values()].filter(
    ({ observedAt, memory }) => memory !== undefined && isFreshReport(observedAt, now),
  );
  if (fresh.length === 0) return NO_MEASUREMENTS;
  const ofNodes = new Map<string, PodUse>(
    fresh.map(({ node, memory }) => [node, { cpu: 0, memory: memory?.used ?? 0 }]),
  );
  const ofPods = new Map<string, PodUse>();
  for (const { memory } of fresh)
    for (const [uid, used] of memory?.ofPods ?? []) ofPods.set(uid, { cpu: 0, memory: used });
  return { ofNode: (name) => ofNodes.get(name), ofPod: (uid) => ofPods.get(uid) };
}
