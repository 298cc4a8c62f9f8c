import type { Taint } from '#shared/domain/snapshot/node.ts';
import type { Pod, Toleration } from '#shared/domain/pod/pod.ts';
import type { NodeFilter } from './filter.ts';
import type { Refusal } from './refusal.ts';

const REFUSAL: Refusal = {
  filter: 'TaintToleration',
  reasons: ['node(s) had untolerated taint(s)'],
  isResolvable: false,
};

/** Every taint that keeps pods away must be tolerated. `plugins/tainttoleration/taint_toleration.go`. */
export function taintToleration(pod: Pod): NodeFilter {
  const { tolerations } = pod.spec.scheduling;
  return ({ node }) => (toleratesNode(tolerations, node.taints) ? undefined : REFUSAL);
}

/** True where no NoSchedule or NoExecute taint is left untolerated. */
export function toleratesNode(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  return taints.every((taint) => !keepsPodsAway(taint) || toleratesTaint(tolerations, taint));
}

/** True where one of the tolerations covers the taint. */
export function toleratesTaint(tolerations: readonly Toleration[], taint: Taint): boolean {
  return tolerations.some((toleration) => covers(toleration, taint));
}

function keepsPodsAway(taint: Taint): boolean {
  return taint.effect === 'NoSchedule' || taint.effect === 'NoExecute';
}

/** `k8s.io/api/core/v1/toleration.go` ToleratesTaint, with the comparison operators off as in 1.36. */
function covers(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== '' && toleration.effect !== taint.effect) return false;
  if (toleration.key !== '' && toleration.key !== taint.key) return false;
  if (toleration.operator === '' || toleration.operator === 'Equal') return toleration.value === taint.value;
  return toleration.operator === 'Exists';
}
