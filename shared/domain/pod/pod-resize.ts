import {
  type Amounts,
  filterAmounts,
  maxAmounts,
  NO_AMOUNTS,
  addQuantities,
  compareQuantities,
  type Quantity,
} from '#shared/domain/quantity/quantity.ts';
import type { Container, ContainerStatus, Pod, Resources } from './pod.ts';

/** What a container or pod holds while it is resized in place, in addition to what its spec requests. */
export interface Resize {
  readonly held: Resources;
  readonly allocated: Amounts | undefined;
}

const NONE: ReadonlyMap<Container, Resize> = new Map();

/**
 * The containers whose status reports what they hold; an allocation alone does not count. Statuses are matched by name,
 * with init containers taking precedence; plain init containers are ignored (oddity U2).
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

type Allocated = Pick<ContainerStatus, 'resources' | 'allocatedResources'>;

const RESIZABLE: readonly string[] = ['cpu', 'memory'];

/**
 * The pod with the requests that its kubelet has allocated, by which the kubelet evicts: a resize that is deferred or
 * infeasible changes nothing (`GetActivePods` in `pkg/kubelet/kubelet_pods.go`, `UpdatePodFromAllocation`). Most kubelets
 * report the allocation only as part of `resources`; a container without a status keeps its spec.
 */
export function asAllocated(pod: Pod): Pod {
  const statuses = [...pod.status.containers, ...pod.status.initContainers];
  const byName = new Map(statuses.map((each) => [each.name, allocationOf(each)]));
  const ofPod = allocationOf(pod.status);
  if (ofPod === undefined && [...byName.values()].every((each) => each === undefined)) return pod;
  const allocate = (container: Container): Container => ({
    ...container,
    resources: withAllocation(container.resources, byName.get(container.name)),
  });
  const { containers, initContainers, resources } = pod.spec;
  const spec = {
    ...pod.spec,
    containers: containers.map(allocate),
    initContainers: initContainers.map(allocate),
    resources: resources && withAllocation(resources, ofPod),
  };
  return { ...pod, spec };
}

function allocationOf({ resources, allocatedResources }: Allocated): Amounts | undefined {
  return allocatedResources ?? (resources && (resources.requests ?? NO_AMOUNTS));
}

function withAllocation(spec: Resources, allocated: Amounts | undefined): Resources {
  if (allocated === undefined) return spec;
  const others = filterAmounts(spec.requests ?? NO_AMOUNTS, (name) => !RESIZABLE.includes(name));
  return { ...spec, requests: new Map([...others, ...filterAmounts(allocated, (name) => RESIZABLE.includes(name))]) };
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

/** A sidecar is an init container that keeps running. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Sums are changed in place: a map copied for each container costs containers × names, which a tenant can choose. */
type ResourceSums = Map<string, Quantity>;

/**
 * What the containers of a pod take together. Containers and sidecars run side by side; each init container runs next to
 * the sidecars listed before it. Per resource the larger of both counts.
 * KEP-753; component-helpers `resource/helpers.go` AggregateContainerRequests.
 */
export function sumContainers(pod: Pod, amountsOf: (container: Container) => Amounts): Amounts {
  const { containers, initContainers } = pod.spec;
  const [only] = containers;
  if (only !== undefined && containers.length === 1 && initContainers.length === 0) return amountsOf(only);
  const running: ResourceSums = new Map();
  for (const container of containers) addTo(running, amountsOf(container));
  if (initContainers.length === 0) return running;
  const starting = sumInitContainers(initContainers, amountsOf, running);
  return maxAmounts(running, starting);
}

/** The maximum taken while init containers run; sidecars are added to `running` too. */
function sumInitContainers(
  initContainers: readonly Container[],
  amountsOf: (container: Container) => Amounts,
  running: ResourceSums,
): Amounts {
  const sidecars: ResourceSums = new Map();
  const starting: ResourceSums = new Map();
  for (const container of initContainers) {
    const amounts = amountsOf(container);
    if (isSidecar(container)) {
      addTo(running, amounts);
      addTo(sidecars, amounts);
      for (const name of amounts.keys()) raise(starting, name, sidecars.get(name));
    } else {
      for (const [name, amount] of amounts) raise(starting, name, plus(amount, sidecars.get(name)));
    }
  }
  return starting;
}

function addTo(sums: ResourceSums, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const present = sums.get(name);
    sums.set(name, present === undefined ? amount : addQuantities(present, amount));
  }
}

function raise(largest: ResourceSums, name: string, amount: Quantity | undefined): void {
  const present = largest.get(name);
  if (amount === undefined || (present !== undefined && compareQuantities(amount, present) <= 0)) return;
  largest.set(name, amount);
}

function plus(amount: Quantity, more: Quantity | undefined): Quantity {
  return more === undefined ? amount : addQuantities(amount, more);
}
