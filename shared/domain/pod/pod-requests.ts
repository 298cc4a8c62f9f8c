import {
  type Amounts,
  addAmounts,
  NO_AMOUNTS,
  filterAmounts,
  addQuantities,
  quantitySign,
  ZERO,
  equalAmounts,
  type Quantity,
} from '#shared/domain/quantity/quantity.ts';
import type { Pod, Container, Resources } from './pod.ts';
import {
  containerResizes,
  isResizeInfeasible,
  limitsInResize,
  podResize,
  requestsInResize,
  sumContainers,
} from './pod-resize.ts';
import { podLevelAmounts, type StatusUse, wholePodLimits, wholePodRequests } from './whole-pod-resources.ts';

/** What counts towards a pod's requests and limits. Absent means no. */
export interface PodResourceOptions {
  /** For a resize in progress, count what containers have and what was allocated to them. Quota and scheduler: yes. */
  readonly useStatus?: boolean;
  /** With `useStatus`: the same for pod-level resources. Scheduler: yes, quota: no (oddity U4). */
  readonly usePodLevelStatus?: boolean;
  /** With `useStatus`: the spec counts even while its resize is infeasible. Quota and scheduler: no. */
  readonly countInfeasible?: boolean;
  readonly excludeOverhead?: boolean;
  readonly skipPodLevel?: boolean;
}

/** The options of the 1.36 scheduler. */
export const SCHEDULER_VIEW: PodResourceOptions = { useStatus: true, usePodLevelStatus: true };

/** The options of quota. */
export const QUOTA_VIEW: PodResourceOptions = { useStatus: true };

/**
 * The most that a pod requests, holds or was allocated. Kubernetes ignores the spec of an infeasible resize, but that
 * condition stays in the status until the kubelet has examined the next resize, which would be free in the meantime.
 */
export const LARGEST_VIEW: PodResourceOptions = { ...SCHEDULER_VIEW, countInfeasible: true };

const POD_LEVEL: readonly string[] = ['cpu', 'memory'];

/** The pod's effective requests, overhead included. component-helpers `resource/helpers.go` PodRequests. */
export function podRequests(pod: Pod, options: PodResourceOptions = {}): Amounts {
  const containers = containerRequests(pod, options);
  const requests = options.skipPodLevel === true ? containers : withPodLevelRequests(pod, containers, options);
  return options.excludeOverhead === true ? requests : addAmounts(requests, pod.spec.overhead);
}

function containerRequests(pod: Pod, options: PodResourceOptions): Amounts {
  if (sumsWholePod(pod, options)) return wholePodRequests(pod, statusUse(pod, options));
  const resizes = options.useStatus === true ? containerResizes(pod) : undefined;
  const isOmitted = omitsSpec(pod, options);
  return sumContainers(pod, (container) => {
    const { requests = NO_AMOUNTS } = container.resources;
    const resize = resizes?.get(container);
    return resize === undefined ? requests : requestsInResize(requests, resize, isOmitted);
  });
}

/** The pod's effective limits, overhead included. component-helpers `resource/helpers.go` PodLimits. */
export function podLimits(pod: Pod, options: PodResourceOptions = {}): Amounts {
  const containers = containerLimits(pod, options);
  const limits = options.skipPodLevel === true ? containers : withPodLevelLimits(pod, containers, options);
  return options.excludeOverhead === true ? limits : addToLimits(limits, pod.spec.overhead);
}

function containerLimits(pod: Pod, options: PodResourceOptions): Amounts {
  if (sumsWholePod(pod, options)) return wholePodLimits(pod, statusUse(pod, options));
  const resizes = options.useStatus === true ? containerResizes(pod) : undefined;
  const isOmitted = omitsSpec(pod, options);
  return sumContainers(pod, (container) => {
    const { limits = NO_AMOUNTS } = container.resources;
    const resize = resizes?.get(container);
    return resize === undefined ? limits : (limitsInResize(limits, resize, isOmitted) ?? NO_AMOUNTS);
  });
}

/** Without the status both arithmetics agree. */
function sumsWholePod(pod: Pod, { useStatus }: PodResourceOptions): boolean {
  return useStatus === true && pod.arithmetic === '1.37';
}

function statusUse(pod: Pod, options: PodResourceOptions): StatusUse {
  return { isSpecOmitted: omitsSpec(pod, options), usesPodLevel: options.usePodLevelStatus === true };
}

/** Whether pod-level requests or limits of cpu, memory or hugepages are set. IsPodLevelResourcesSet. */
export function hasPodLevelResources(pod: Pod): boolean {
  const { requests, limits } = pod.spec.resources ?? {};
  return [...(requests?.keys() ?? []), ...(limits?.keys() ?? [])].some(isPodLevelResource);
}

function withPodLevelRequests(pod: Pod, containers: Amounts, options: PodResourceOptions): Amounts {
  const { requests = NO_AMOUNTS } = pod.spec.resources ?? {};
  const resize = podLevelResize(pod, options);
  const isOmitted = omitsSpec(pod, options);
  if (resize !== undefined && sumsWholePod(pod, options)) {
    if (![...requests.keys()].some(isPodLevelResource)) return containers;
    const statuses = [resize.held.requests, resize.allocated];
    return replacePodLevel(containers, podLevelAmounts(requests, statuses, isOmitted));
  }
  return withPodLevel(containers, requests, resize && requestsInResize(requests, resize, isOmitted));
}

function withPodLevelLimits(pod: Pod, containers: Amounts, options: PodResourceOptions): Amounts {
  const { limits = NO_AMOUNTS } = pod.spec.resources ?? {};
  const resize = podLevelResize(pod, options);
  const isOmitted = omitsSpec(pod, options);
  if (resize !== undefined && sumsWholePod(pod, options)) {
    if (!hasPodLevelResources(pod)) return containers;
    return replacePodLevel(containers, podLevelAmounts(limits, [resize.held.limits], isOmitted));
  }
  return withPodLevel(containers, limits, resize && limitsInResize(limits, resize, isOmitted));
}

function omitsSpec(pod: Pod, { countInfeasible }: PodResourceOptions): boolean {
  return countInfeasible !== true && isResizeInfeasible(pod);
}

function podLevelResize(pod: Pod, options: PodResourceOptions) {
  return options.useStatus === true && options.usePodLevelStatus === true ? podResize(pod) : undefined;
}

/** Pod-level amounts replace those of the containers, for cpu, memory and hugepages only (oddity U4). */
function withPodLevel(containers: Amounts, stated: Amounts, resized: Amounts | undefined): Amounts {
  if (stated.size === 0) return containers;
  const amounts = new Map(containers);
  for (const [name, amount] of stated) {
    if (isPodLevelResource(name)) amounts.set(name, resized === undefined ? amount : (resized.get(name) ?? ZERO));
  }
  return amounts;
}

function replacePodLevel(containers: Amounts, ofPod: Amounts): Amounts {
  return new Map([...containers, ...filterAmounts(ofPod, isPodLevelResource)]);
}

/** Whether a pod as a whole may request it. IsSupportedPodLevelResource. */
function isPodLevelResource(name: string): boolean {
  return POD_LEVEL.includes(name) || name.startsWith('hugepages-');
}

/** Overhead is added only to limits that are set and not zero (oddity U5). */
function addToLimits(limits: Amounts, overhead: Amounts): Amounts {
  if (overhead.size === 0) return limits;
  const amounts = new Map(limits);
  for (const [name, amount] of overhead) {
    const limit = limits.get(name);
    if (limit !== undefined && quantitySign(limit) !== 0) amounts.set(name, addQuantities(limit, amount));
  }
  return amounts;
}

/**
 * The pod with the requests that the API server gives it from its limits, before any admission. Templates get none.
 * `pkg/apis/core/v1/defaults.go` SetDefaults_Pod, defaultPodRequests.
 */
export function withDefaultRequests(pod: Pod): Pod {
  const { containers, initContainers } = pod.spec;
  const spec = {
    ...pod.spec,
    containers: containers.map(requestLimits),
    initContainers: initContainers.map(requestLimits),
  };
  return { ...pod, spec: { ...spec, resources: defaultPodLevel({ ...pod, spec }) } };
}

function requestLimits(container: Container): Container {
  const { requests, limits } = container.resources;
  if (limits === undefined) return container;
  return { ...container, resources: { limits, requests: new Map([...limits, ...(requests ?? [])]) } };
}

/** A pod with pod-level limits requests what its containers request, else those limits. */
function defaultPodLevel(pod: Pod): Resources | undefined {
  const { requests, limits } = pod.spec.resources ?? {};
  if (limits === undefined || limits.size === 0) return pod.spec.resources;
  const ofContainers = podRequests(pod, { skipPodLevel: true, excludeOverhead: true });
  const defaults: Amounts = new Map([...limits, ...filterAmounts(ofContainers, isDividable)]);
  return { limits, requests: new Map([...filterAmounts(defaults, isPodLevelResource), ...(requests ?? [])]) };
}

/** Huge pages cannot be overcommitted, so container requests are not a default for them. */
function isDividable(name: string): boolean {
  return isPodLevelResource(name) && !name.startsWith('hugepages-');
}

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const COMPUTE: readonly string[] = ['cpu', 'memory'];

/**
 * The QoS class that follows from the spec. `spec.resources` hides the containers; until 1.36 also an empty one does
 * (oddity S1). `pkg/apis/core/v1/helper/qos/qos.go` ComputePodQOS.
 */
export function qosClass(pod: Pod): QosClass {
  const { resources, containers, initContainers } = pod.spec;
  const hidesContainers = pod.arithmetic === '1.37' ? hasPodLevelResources(pod) : resources !== undefined;
  const parts =
    hidesContainers && resources !== undefined
      ? [resources]
      : [...containers, ...initContainers].map((each) => each.resources);
  const requests = statedSum(parts.map((part) => part.requests));
  const limits = statedSum(parts.map((part) => part.limits));
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  return parts.every(limitsAllCompute) && equalAmounts(requests, limits) ? 'Guaranteed' : 'Burstable';
}

/**
 * The class that quota scopes, eviction and preemption go by: `status.qosClass` if set, regardless of its value (oddity
 * S3), else the computed one. `pkg/apis/core/v1/helper/qos/qos.go` GetPodQOS.
 */
export function reportedQosClass(pod: Pod): string {
  return pod.status.qosClass ?? qosClass(pod);
}

/** The sum of cpu and memory over the parts; an amount of zero or less counts as not set. */
function statedSum(parts: readonly (Amounts | undefined)[]): Amounts {
  const sum = new Map<string, Quantity>();
  for (const part of parts) {
    for (const name of COMPUTE) {
      const amount = stated(part, name);
      const present = sum.get(name);
      if (amount !== undefined) sum.set(name, present === undefined ? amount : addQuantities(present, amount));
    }
  }
  return sum;
}

function stated(amounts: Amounts | undefined, name: string): Quantity | undefined {
  const amount = amounts?.get(name);
  return amount !== undefined && quantitySign(amount) > 0 ? amount : undefined;
}

function limitsAllCompute({ limits }: Resources): boolean {
  return COMPUTE.every((name) => stated(limits, name) !== undefined);
}
