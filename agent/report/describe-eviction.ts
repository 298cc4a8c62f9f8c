import { evictionMessage, type EvictionMessage } from '#shared/domain/eviction/eviction-message.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { ContainerUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { Eviction } from '#agent/decide/eviction.ts';

/**
 * The kubelet's sentence about a victim; `containers` are measured for it alone, once it is chosen. A pod so young that
 * its containers' ids are not known yet is told of without them, with empty lists: so does the kubelet, which never lets
 * the pod's own figure stand in (`evictionMessage` in `pkg/kubelet/eviction/helpers.go` walks `podStats.Containers`).
 */
export function describeEviction(
  { signal, threshold, observed, pod, usage }: Eviction,
  containers: readonly ContainerUsage[],
): EvictionMessage {
  const detailed = usage === undefined || containers.length === 0 ? usage : { ...usage, containers };
  return evictionMessage({ resource: resourceOf(signal), threshold, observed }, pod, detailed);
}
