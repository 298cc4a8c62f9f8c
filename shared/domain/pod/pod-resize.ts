import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { maxAmounts, NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import type { Container, Pod, Resources } from './pod.ts';
import { isSidecar } from './sum-containers.ts';

/** What a container or pod holds while it is resized in place, in addition to what its spec requests. */
export interface Resize {
  readonly held: Resources;
  readonly allocated: Amounts | undefined;
}

const NONE: ReadonlyMap<Container, Resize> = new Map();

/**
 * The containers whose status says what they hold; an allocation alone does not count. Statuses go by name, those of
 * init containers winning, and a plain init container has no part in it (oddity U2).
 */
export function containerResizes(pod: Pod): ReadonlyMap<Container, Resize> {
  const { containers, initContainers } = pod.status;
  if (containers.length + initContainers.length === 0) return NONE;
  const statuses = new Map([...containers, ...initContainers].map((status) => [status.name, status]));
  const resizes = new Map<Container, Resize>();
  for (const container of [...pod.spec.containers, ...pod.spec.initContainers.filter(isSidecar)]) {
    const { resources, allocatedResources } = statuses.get(container.name) ?? {};
    if (resources !== undefined) resizes.set(container, { held: resources, allocated: allocatedResources });
  }
  return resizes;
}

/** The same for pod-level resources. */
export function podResize({ status }: Pod): Resize | undefined {
  return status.resources && { held: status.resources, allocated: status.allocatedResources };
}

/** The largest of spec, held and allocated; an infeasible resize may leave out the spec. determineEffectiveRequests. */
export function requestsInResize(spec: Amounts, { held, allocated }: Resize, isSpecOmitted: boolean): Amounts {
  const { requests = NO_AMOUNTS } = held;
  return maxAmounts(isSpecOmitted ? requests : maxAmounts(spec, requests), allocated ?? NO_AMOUNTS);
}

/** The larger of spec and held; only what is held, if anything, without the spec. determineEffectiveLimits. */
export function limitsInResize(spec: Amounts, { held }: Resize, isSpecOmitted: boolean): Amounts | undefined {
  return isSpecOmitted ? held.limits : maxAmounts(spec, held.limits ?? NO_AMOUNTS);
}

/** Only the first PodResizePending condition is read (oddity U3). IsPodResizeInfeasible. */
export function isResizeInfeasible(pod: Pod): boolean {
  return pod.status.conditions.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}
