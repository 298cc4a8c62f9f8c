import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { ContainerUsage } from './measurement.ts';
import type { WireContainer } from './wire-pod.ts';

/** A running container with what it declared. */
export interface MemoryHolder {
  readonly usage: ContainerUsage;
  readonly container: WireContainer;
  readonly qosClass: string;
  readonly priority: number;
}

/** Containers over their own memory limit: the kernel kills in their cgroup alone. */
export function overLimit(holders: readonly MemoryHolder[]): readonly MemoryHolder[] {
  return holders.filter(({ usage, container }) => {
    const limit = bytesOf(container.resources?.limits?.['memory']);
    return limit !== undefined && usage.workingSetBytes > limit;
  });
}

/**
 * Whom the kernel kills when the whole node is full: the highest badness, which knows QoS and size but no priority
 * (`mm/oom_kill.c` oom_badness with the kubelet's `pkg/kubelet/qos/policy.go` adjustments).
 */
export function chooseOomVictim(holders: readonly MemoryHolder[], capacityBytes: number): MemoryHolder | undefined {
  const badness = (holder: MemoryHolder): number =>
    (holder.usage.workingSetBytes * 1000) / capacityBytes + scoreAdjustment(holder, capacityBytes);
  return holders.toSorted((left, right) => badness(right) - badness(left))[0];
}

/** -997 to 1000: the less a container asked for, the sooner it goes. */
export function scoreAdjustment({ container, qosClass, priority }: MemoryHolder, capacityBytes: number): number {
  if (qosClass === 'Guaranteed' || priority >= 2_000_000_000) return -997;
  if (qosClass === 'BestEffort') return 1000;
  const request = bytesOf(container.resources?.requests?.['memory']) ?? 0;
  return Math.min(999, Math.max(3, Math.trunc(1000 - (1000 * request) / capacityBytes)));
}

function bytesOf(text: string | undefined): number | undefined {
  const parsed = parseQuantity(text ?? '');
  return parsed.ok ? quantityNumber(parsed.quantity) : undefined;
}
