import type { Amounts } from './amounts.ts';
import { addAmounts, maxAmounts, NO_AMOUNTS } from './amounts.ts';
import type { Container, Pod } from './pod.ts';

/** A sidecar is an init container that keeps running. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/**
 * What the containers of a pod take together. Containers and sidecars run side by side; each init container runs beside
 * the sidecars listed before it. Per resource the larger of both counts.
 * KEP-753; component-helpers `resource/helpers.go` AggregateContainerRequests.
 */
export function sumContainers(pod: Pod, amountsOf: (container: Container) => Amounts): Amounts {
  let running = pod.spec.containers.reduce<Amounts>((sum, each) => addAmounts(sum, amountsOf(each)), NO_AMOUNTS);
  let sidecars = NO_AMOUNTS;
  let starting = NO_AMOUNTS;
  for (const container of pod.spec.initContainers) {
    const amounts = amountsOf(container);
    if (isSidecar(container)) {
      running = addAmounts(running, amounts);
      sidecars = addAmounts(sidecars, amounts);
      starting = maxAmounts(starting, sidecars);
    } else {
      starting = maxAmounts(starting, addAmounts(amounts, sidecars));
    }
  }
  return maxAmounts(running, starting);
}
