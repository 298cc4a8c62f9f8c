import type { Amounts } from './amounts.ts';
import { addAmounts, maxAmounts, NO_AMOUNTS } from './amounts.ts';
import type { Container, ContainerStatus, Pod } from './pod.ts';
import { addQuantities, ZERO } from './quantity.ts';

/** What counts as a pod's requests and limits. Absent means no. */
export interface PodResourceOptions {
  /** A resize in progress counts with what containers have and what was allocated to them. Quota and scheduler: yes. */
  readonly useStatus?: boolean;
  /** With `useStatus`: the same for pod-level resources. Scheduler: yes, quota: no (oddity U4). */
  readonly usePodLevelStatus?: boolean;
  readonly excludeOverhead?: boolean;
  readonly skipPodLevel?: boolean;
}

/** What the 1.36 scheduler looks at. */
export const SCHEDULER_VIEW: PodResourceOptions = { useStatus: true, usePodLevelStatus: true };

/** What quota looks at. */
export const QUOTA_VIEW: PodResourceOptions = { useStatus: true };

const POD_LEVEL: readonly string[] = ['cpu', 'memory'];

/** The pod's effective requests, overhead included. component-helpers `resource/helpers.go` PodRequests. */
export function podRequests(pod: Pod, options: PodResourceOptions = {}): Amounts {
  const statuses = options.useStatus === true ? containerStatuses(pod) : undefined;
  const containers = aggregate(pod, (container, canResize) => {
    const status = canResize ? statuses?.get(container.name) : undefined;
    const spec = container.resources.requests ?? NO_AMOUNTS;
    if (status?.resources === undefined) return spec;
    return requestsInResize(pod, spec, status.resources.requests, status.allocatedResources);
  });
  const requests = options.skipPodLevel === true ? containers : withPodLevelRequests(pod, containers, options);
  return options.excludeOverhead === true ? requests : addAmounts(requests, pod.spec.overhead);
}

/**
 * The pod's effective limits; overhead is added only where a limit is not zero (oddity U5).
 * component-helpers `resource/helpers.go` PodLimits.
 */
export function podLimits(pod: Pod, options: PodResourceOptions = {}): Amounts {
  const statuses = options.useStatus === true ? containerStatuses(pod) : undefined;
  const containers = aggregate(pod, (container, canResize) => {
    const status = canResize ? statuses?.get(container.name) : undefined;
    const spec = container.resources.limits ?? NO_AMOUNTS;
    if (status?.resources === undefined) return spec;
    return limitsInResize(pod, spec, status.resources.limits) ?? NO_AMOUNTS;
  });
  const limits = options.skipPodLevel === true ? containers : withPodLevelLimits(pod, containers, options);
  return options.excludeOverhead === true ? limits : withOverhead(limits, pod.spec.overhead);
}

/** Whether pod-level requests or limits of cpu, memory or hugepages are stated. IsPodLevelResourcesSet. */
export function hasPodLevelResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {};
  return [...(requests?.keys() ?? []), ...(limits?.keys() ?? [])].some(isPodLevelResource);
}

/** A sidecar is an init container that keeps running. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/**
 * Containers and sidecars run together; each init container runs beside the sidecars listed before it.
 * Per resource the larger of both counts. A plain init container cannot be resized (oddity U2).
 * KEP-753, AggregateContainerRequests.
 */
function aggregate(pod: Pod, amountsOf: (container: Container, canResize: boolean) => Amounts): Amounts {
  let running = pod.spec.containers.reduce<Amounts>((sum, each) => addAmounts(sum, amountsOf(each, true)), NO_AMOUNTS);
  let sidecars = NO_AMOUNTS;
  let starting = NO_AMOUNTS;
  for (const container of pod.spec.initContainers) {
    if (isSidecar(container)) {
      const amounts = amountsOf(container, true);
      running = addAmounts(running, amounts);
      sidecars = addAmounts(sidecars, amounts);
      starting = maxAmounts(starting, sidecars);
    } else {
      starting = maxAmounts(starting, addAmounts(amountsOf(container, false), sidecars));
    }
  }
  return maxAmounts(running, starting);
}

/** The statuses by container name, those of init containers winning (oddity U2). */
function containerStatuses(pod: Pod): ReadonlyMap<string, ContainerStatus> | undefined {
  const { containers, initContainers } = pod.status;
  if (containers.length + initContainers.length === 0) return undefined;
  return new Map([...containers, ...initContainers].map((status) => [status.name, status]));
}

/** determineEffectiveRequests: an infeasible resize leaves out what the spec wants (oddity U3). */
function requestsInResize(
  pod: Pod,
  spec: Amounts,
  actuated: Amounts | undefined,
  allocated: Amounts | undefined,
): Amounts {
  const held = isResizeInfeasible(pod) ? (actuated ?? NO_AMOUNTS) : maxAmounts(spec, actuated ?? NO_AMOUNTS);
  return maxAmounts(held, allocated ?? NO_AMOUNTS);
}

/** determineEffectiveLimits: `undefined` if the resize is infeasible and the status has no limits. */
function limitsInResize(pod: Pod, spec: Amounts, actuated: Amounts | undefined): Amounts | undefined {
  return isResizeInfeasible(pod) ? actuated : maxAmounts(spec, actuated ?? NO_AMOUNTS);
}

/** Only the first PodResizePending condition is read (oddity U3). */
function isResizeInfeasible(pod: Pod): boolean {
  return pod.status.conditions.find(({ type }) => type === 'PodResizePending')?.reason === 'Infeasible';
}

function withPodLevelRequests(pod: Pod, containers: Amounts, options: PodResourceOptions): Amounts {
  const spec = pod.spec.resources?.requests;
  const status = podLevelStatus(pod, options);
  if (spec === undefined) return containers;
  const resized = status && requestsInResize(pod, spec, status.requests, pod.status.allocatedResources);
  return withPodLevel(containers, spec, resized);
}

function withPodLevelLimits(pod: Pod, containers: Amounts, options: PodResourceOptions): Amounts {
  const spec = pod.spec.resources?.limits;
  const status = podLevelStatus(pod, options);
  if (spec === undefined) return containers;
  return withPodLevel(containers, spec, status && limitsInResize(pod, spec, status.limits));
}

function podLevelStatus(pod: Pod, options: PodResourceOptions) {
  return options.useStatus === true && options.usePodLevelStatus === true ? pod.status.resources : undefined;
}

/** Pod-level amounts replace those of the containers, for cpu, memory and hugepages only (oddity U4). */
function withPodLevel(containers: Amounts, spec: Amounts, resized: Amounts | undefined): Amounts {
  const amounts = new Map(containers);
  for (const [name, amount] of spec) {
    if (isPodLevelResource(name)) amounts.set(name, resized === undefined ? amount : (resized.get(name) ?? ZERO));
  }
  return amounts;
}

function isPodLevelResource(name: string): boolean {
  return POD_LEVEL.includes(name) || name.startsWith('hugepages-');
}

function withOverhead(limits: Amounts, overhead: Amounts): Amounts {
  if (overhead.size === 0) return limits;
  const amounts = new Map(limits);
  for (const [name, amount] of overhead) {
    const limit = amounts.get(name);
    if (limit !== undefined && limit.mantissa !== 0) amounts.set(name, addQuantities(limit, amount));
  }
  return amounts;
}
