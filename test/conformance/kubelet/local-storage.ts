import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import type { Pod, Volume } from '#shared/domain/pod/pod.ts';
import { type Quantity, compareQuantities, quantitySign } from '#shared/domain/quantity/quantity.ts';
import { podLimits } from '#shared/domain/pod/pod-requests.ts';
import { wholeQuantity, type DiskLayout } from '#shared/domain/pressure/signal.ts';
import { quote } from '#shared/domain/base/texts.ts';
import type { ContainerUsage, PodUsage } from '#shared/domain/ranking/pod-usage.ts';

/**
 * What is said of a pod that uses more local disk than its own limits allow, `undefined` if it does not: an emptyDir,
 * the pod as a whole, then each container (`localStorageEviction` in `pkg/kubelet/eviction/eviction_manager.go`).
 */
export function localStorageExcess(pod: Pod, usage: PodUsage, layout: DiskLayout): string | undefined {
  return emptyDirExcess(pod, usage) ?? podExcess(pod, usage) ?? containerExcess(pod, usage, layout);
}

function emptyDirExcess(pod: Pod, usage: PodUsage): string | undefined {
  for (const volume of pod.spec.volumes) {
    const limit = sizeLimit(volume);
    const used = usage.volumes.findLast(({ name }) => name === volume.name)?.usedBytes;
    if (limit !== undefined && used !== undefined && exceeds(used, limit)) {
      return `Usage of EmptyDir volume ${quote(volume.name)} exceeds the limit ${quote(formatQuantity(limit))}. `;
    }
  }
  return undefined;
}

/** The size limit of an emptyDir of any medium; 0 is none. */
function sizeLimit({ emptyDirSizeLimit }: Volume): Quantity | undefined {
  if (emptyDirSizeLimit === undefined) return undefined;
  const parsed = parseQuantity(emptyDirSizeLimit);
  return parsed.ok && quantitySign(parsed.quantity) > 0 ? parsed.quantity : undefined;
}

/** Here a limit of 0 counts and is exceeded by the first byte. */
function podExcess(pod: Pod, usage: PodUsage): string | undefined {
  const limit = podLimits(pod).get('ephemeral-storage');
  if (limit === undefined || !exceeds(usage.ephemeralStorageBytes ?? 0, limit)) return undefined;
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(limit)}. `;
}

function containerExcess(pod: Pod, usage: PodUsage, layout: DiskLayout): string | undefined {
  for (const container of usage.containers) {
    const limit = containerLimit(pod, container.name);
    if (limit !== undefined && exceeds(writtenBy(container, layout), limit)) {
      const text = quote(formatQuantity(limit));
      return `Container ${container.name} exceeded its local ephemeral storage limit ${text}. `;
    }
  }
  return undefined;
}

/** A regular container's own limit; 0 is none. */
function containerLimit(pod: Pod, name: string): Quantity | undefined {
  const container = pod.spec.containers.findLast((each) => each.name === name);
  const limit = container?.resources.limits?.get('ephemeral-storage');
  return limit === undefined || quantitySign(limit) === 0 ? undefined : limit;
}

/** Logs, and the writable layer where it shares the node's filesystem. */
function writtenBy({ logs, rootfs }: ContainerUsage, layout: DiskLayout): number {
  return (logs.usedBytes ?? 0) + (layout === 'single' ? (rootfs.usedBytes ?? 0) : 0);
}

function exceeds(used: number, limit: Quantity): boolean {
  return compareQuantities(wholeQuantity(used, 'BinarySI'), limit) > 0;
}
