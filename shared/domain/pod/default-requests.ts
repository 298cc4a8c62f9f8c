import { filterAmounts, type Amounts } from '#shared/domain/quantity/amounts.ts';
import type { Container, Pod, Resources } from './pod.ts';
import { isPodLevelResource, podRequests } from './pod-requests.ts';

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

/** Where the pod as a whole has limits, it requests what its containers do, else those limits. */
function defaultPodLevel(pod: Pod): Resources | undefined {
  const { requests, limits } = pod.spec.resources ?? {};
  if (limits === undefined || limits.size === 0) return pod.spec.resources;
  const ofContainers = podRequests(pod, { skipPodLevel: true, excludeOverhead: true });
  const defaults: Amounts = new Map([...limits, ...filterAmounts(ofContainers, isDividable)]);
  return { limits, requests: new Map([...filterAmounts(defaults, isPodLevelResource), ...(requests ?? [])]) };
}

/** Huge pages cannot be overcommitted: what containers request of them is no default. */
function isDividable(name: string): boolean {
  return isPodLevelResource(name) && !name.startsWith('hugepages-');
}
