import { evictionMessage, type EvictionMessage } from '#shared/domain/eviction/eviction-message.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { ContainerUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { Eviction } from '#agent/decide/eviction.ts';

/**
 * The kubelet's message about a victim; `containers` are measured for it alone, once it is chosen. A pod so young that
 * its containers' ids are unknown is described without them, with empty lists, as the kubelet does, which never uses
 * the pod's own figure instead (`evictionMessage` in `pkg/kubelet/eviction/helpers.go` walks `podStats.Containers`).
 */
export function describeEviction(
  { signal, threshold, observed, pod, usage }: Eviction,
  containers: readonly ContainerUsage[],
): EvictionMessage {
  const detailed = usage === undefined || containers.length === 0 ? usage : { ...usage, containers };
  return evictionMessage({ resource: resourceOf(signal), threshold, observed }, pod, detailed);
}
