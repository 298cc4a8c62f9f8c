import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { hasPodLevelResources, podRequests } from '#shared/domain/pod/pod-requests.ts';
import { asAllocated } from '#shared/domain/pod/pod-resize.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { addQuantities, quantitySign } from '#shared/domain/quantity/quantity.ts';

/**
 * A pod's requests as the kubelet sees them: what is allocated counts, not what a pending resize asks for; pod-level resources hide those of the containers altogether, and overhead
 * is added only where something is requested (`GetResourceRequestQuantity` in `pkg/api/v1/resource/helpers.go`).
 */
export function kubeletRequests(pod: Pod): Amounts {
  const allocated = asAllocated(pod);
  const visible = hasPodLevelResources(allocated) ? withoutContainers(allocated) : allocated;
  const requests = podRequests(visible, { excludeOverhead: true });
  return pod.spec.overhead.size === 0 ? requests : withOverhead(requests, pod.spec.overhead);
}

function withoutContainers(pod: Pod): Pod {
  return { ...pod, spec: { ...pod.spec, containers: [], initContainers: [] } };
}

function withOverhead(requests: Amounts, overhead: Amounts): Amounts {
  return new Map(
    Array.from(requests, ([name, request]) => {
      const added = overhead.get(name);
      return [name, added === undefined || quantitySign(request) === 0 ? request : addQuantities(request, added)];
    }),
  );
}
