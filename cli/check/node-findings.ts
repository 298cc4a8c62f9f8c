import { isFresh, type NodePressure } from '#shared/api/node-pressure.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { ownerOf } from '#shared/domain/pod/pod-owner.ts';
import type { Finding } from './finding.ts';
import { daemonSetBelowTop, noStalls } from './messages.ts';

/** Value of `system-node-critical`, which no other class reaches. */
const TOP_PRIORITY = 2_000_001_000;
const SYSTEM_NAMESPACE = 'kube-system';

/**
 * Nodes whose agents measure no stalls: the kernel counts none, or has cgroup v1 only, where pods have none. The
 * condition `Io` rests on stalls alone.
 */
export function stallFindings(pressures: readonly NodePressure[], now: Instant): readonly Finding[] {
  const nodes = pressures.filter(({ status }) => isFresh(status, now) && status.conditions.some(isWithoutStalls));
  return nodes.length === 0 ? [] : [noStalls(nodes.map(({ name }) => name))];
}

function isWithoutStalls({ type, reason }: { readonly type: string; readonly reason: string }): boolean {
  return type === 'Io' && reason === 'NotMeasured';
}

/** DaemonSets of kube-system whose pods have less than the top priority: a full node keeps them out. Mechanism S3-48. */
export function daemonSetFindings(pods: readonly Pod[]): readonly Finding[] {
  const below = pods.filter(
    ({ namespace, spec }) => namespace === SYSTEM_NAMESPACE && (spec.priority ?? 0) < TOP_PRIORITY,
  );
  const owners = below.map(ownerOf).filter((owner) => owner?.startsWith(`${SYSTEM_NAMESPACE}/DaemonSet/`));
  return [...new Set(owners)].map((owner) => daemonSetBelowTop(owner ?? ''));
}
