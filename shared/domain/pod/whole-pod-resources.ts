/**
 * What a pod requests by the arithmetic of Kubernetes 1.37 and newer: the amounts in the spec, those allocated and those
 * in effect are each summed over the whole pod, and the largest sum counts. Until 1.36 the largest counts per container
 * (`pod-requests.ts`).
 */
import { type Amounts, maxAmounts, NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import type { Container, ContainerStatus, Pod } from './pod.ts';
import { sumContainers } from './pod-resize.ts';

/** Which parts of the status count. */
export interface StatusUse {
  /** The spec of an infeasible resize does not count. */
  readonly isSpecOmitted: boolean;
  /** The amounts that the status has for the whole pod count, too. */
  readonly usesPodLevel: boolean;
}

/** The requests of all containers of a pod whose status counts. `resource/helpers.go` AggregateContainerRequests. */
export function wholePodRequests(pod: Pod, { isSpecOmitted, usesPodLevel }: StatusUse): Amounts {
  const { allocatedResources: allocated, resources } = pod.status;
  const specified = isSpecOmitted
    ? NO_AMOUNTS
    : sumContainers(pod, ({ resources: { requests } }) => requests ?? NO_AMOUNTS);
  if (usesPodLevel && allocated !== undefined && resources?.requests !== undefined)
    return maxAmounts(maxAmounts(specified, resources.requests), allocated);
  const statusOf = statusesByName(pod);
  const sumOf = (held: (status: ContainerStatus | undefined) => Amounts | undefined): Amounts =>
    sumContainers(
      pod,
      (container) => held(statusOf(container)) ?? unlessOmitted(container.resources.requests, isSpecOmitted),
    );
  const ofAllocated = sumOf((status) => status?.allocatedResources);
  const inEffect = sumOf((status) => status?.resources?.requests ?? status?.allocatedResources);
  return maxAmounts(maxAmounts(specified, inEffect), ofAllocated);
}

/** The limits of all containers of a pod whose status counts. `resource/helpers.go` AggregateContainerLimits. */
export function wholePodLimits(pod: Pod, { isSpecOmitted, usesPodLevel }: StatusUse): Amounts {
  const specified = isSpecOmitted
    ? NO_AMOUNTS
    : sumContainers(pod, ({ resources: { limits } }) => limits ?? NO_AMOUNTS);
  return maxAmounts(specified, limitsInEffect(pod, { isSpecOmitted, usesPodLevel }));
}

function limitsInEffect(pod: Pod, { isSpecOmitted, usesPodLevel }: StatusUse): Amounts {
  const ofPod = usesPodLevel ? pod.status.resources?.limits : undefined;
  if (ofPod !== undefined) return ofPod;
  const statusOf = statusesByName(pod);
  return sumContainers(
    pod,
    (container) => statusOf(container)?.resources?.limits ?? unlessOmitted(container.resources.limits, isSpecOmitted),
  );
}

/** The amounts of the pod as a whole: the largest of spec and status. `resource/helpers.go` effectivePodLevelResources. */
export function podLevelAmounts(
  spec: Amounts,
  statuses: readonly (Amounts | undefined)[],
  isSpecOmitted: boolean,
): Amounts {
  const specified = isSpecOmitted ? NO_AMOUNTS : spec;
  return statuses.reduce<Amounts>((largest, each) => maxAmounts(largest, each ?? NO_AMOUNTS), specified);
}

function unlessOmitted(spec: Amounts | undefined, isSpecOmitted: boolean): Amounts {
  return isSpecOmitted ? NO_AMOUNTS : (spec ?? NO_AMOUNTS);
}

/** Statuses are matched by name, those of containers before those of init containers. */
function statusesByName({ status }: Pod): (container: Container) => ContainerStatus | undefined {
  const byName = new Map([...status.initContainers, ...status.containers].map((each) => [each.name, each]));
  return ({ name }) => byName.get(name);
}
