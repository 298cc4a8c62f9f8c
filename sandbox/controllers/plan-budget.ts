import { timeText } from '#sandbox/api-server/wire/object.ts';
import { PDBS } from '#shared/kube/resource.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { readSelector } from '#shared/kube/decode/decode-objects.ts';
import { scaled } from './plan-deployment.ts';
import { type Budget, controllerOf, isReady, type OwnedObject, type RunningPod, type World } from './wire-workloads.ts';
import { statusPatch, type Write } from './write.ts';

/** An eviction that was not carried out is dropped after this time. */
const FORGET_DISRUPTION_MS = 120_000;

/** Counts what a PodDisruptionBudget allows (`pkg/controller/disruption/disruption.go`). */
export function planBudget(budget: Budget, world: World, now: number): readonly Write[] {
  const pods = selectedPods(budget, world.pods);
  const disrupted = pendingDisruptions(budget, pods, now);
  const expected = expectedPods(budget, pods, world);
  const desired = desiredHealthy(budget, expected);
  const healthy = pods.filter(
    (pod) => isHealthy(pod) && !Object.hasOwn(disrupted.kept, pod.metadata.name ?? ''),
  ).length;
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired);
  return statusPatch(PDBS, budget, {
    observedGeneration: budget.metadata.generation,
    expectedPods: expected,
    currentHealthy: healthy,
    desiredHealthy: desired,
    disruptionsAllowed: allowed,
    ...(disrupted.hasForgotten && { disruptedPods: disrupted.patch }),
    conditions: [condition(budget, allowed, now)],
  });
}

function selectedPods({ metadata, spec }: Budget, pods: readonly RunningPod[]): readonly RunningPod[] {
  const selector = prepareSelector(readSelector(spec, 'selector'));
  return pods.filter((pod) => {
    const hasEnded = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    const isSelected = selector.matches(new Map(Object.entries(pod.metadata.labels ?? {})));
    return pod.metadata.namespace === metadata.namespace && isSelected && !hasEnded;
  });
}

function isHealthy(pod: RunningPod): boolean {
  return pod.metadata.deletionTimestamp === undefined && isReady(pod);
}

/** Evictions that the API server has counted and whose pods are not known to have ended. */
function pendingDisruptions(budget: Budget, pods: readonly RunningPod[], now: number) {
  const counted = Object.entries(budget.status?.disruptedPods ?? {});
  const isPending = ([name, at]: readonly [string, string]): boolean => {
    const pod = pods.find(({ metadata }) => metadata.name === name);
    return (
      pod !== undefined && pod.metadata.deletionTimestamp === undefined && Date.parse(at) + FORGET_DISRUPTION_MS > now
    );
  };
  const kept = Object.fromEntries(counted.filter(isPending));
  const patch = Object.fromEntries(counted.map(([name, at]) => [name, Object.hasOwn(kept, name) ? at : null]));
  return { kept, patch, hasForgotten: Object.keys(kept).length < counted.length };
}

/**
 * A number is compared with the existing pods; a percentage and `maxUnavailable` with the desired number of their
 * controllers.
 */
function expectedPods({ spec }: Budget, pods: readonly RunningPod[], world: World): number {
  const isPlain = spec.maxUnavailable === undefined && typeof spec.minAvailable !== 'string';
  if (isPlain) return pods.length;
  const uids = new Set(pods.map((pod) => controllerOf(pod)?.uid ?? pod.metadata.uid));
  return [...uids].reduce((sum, uid) => sum + scaleOf(uid, world.replicaSets), 0);
}

function scaleOf(uid: string | undefined, replicaSets: World['replicaSets']): number {
  const owner = replicaSets.find((each: OwnedObject) => each.metadata.uid === uid);
  return owner?.spec.replicas ?? 1;
}

function desiredHealthy({ spec }: Budget, expected: number): number {
  if (spec.maxUnavailable !== undefined)
    return Math.max(0, expected - scaled(spec.maxUnavailable, expected, Math.ceil));
  return scaled(spec.minAvailable ?? 0, expected, Math.ceil);
}

function condition(budget: Budget, allowed: number, now: number) {
  const status = allowed > 0 ? 'True' : 'False';
  const present = (budget.status?.['conditions'] ?? []) as readonly {
    readonly type: string;
    readonly status: string;
  }[];
  const same = present.find(({ type, status: value }) => type === 'DisruptionAllowed' && value === status);
  const reason = allowed > 0 ? 'SufficientPods' : 'InsufficientPods';
  const lastTransitionTime = timeText(now);
  return same ?? { type: 'DisruptionAllowed', status, reason, message: '', lastTransitionTime };
}
