import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { maxAmounts } from '#shared/domain/quantity/amounts.ts';
import type { Container, Pod } from './pod.ts';
import { addQuantities, compareQuantities, type Quantity } from '#shared/domain/quantity/quantity.ts';

/** A sidecar is an init container that keeps running. */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Sums are changed in place: a map copied for each container costs containers × names, which a tenant can choose. */
type Sums = Map<string, Quantity>;

/**
 * What the containers of a pod take together. Containers and sidecars run side by side; each init container runs next to
 * the sidecars listed before it. Per resource the larger of both counts.
 * KEP-753; component-helpers `resource/helpers.go` AggregateContainerRequests.
 */
export function sumContainers(pod: Pod, amountsOf: (container: Container) => Amounts): Amounts {
  const { containers, initContainers } = pod.spec;
  const [only] = containers;
  if (only !== undefined && containers.length === 1 && initContainers.length === 0) return amountsOf(only);
  const running: Sums = new Map();
  for (const container of containers) addTo(running, amountsOf(container));
  const starting = sumInitContainers(initContainers, amountsOf, running);
  return maxAmounts(running, starting);
}

/** What is taken at most while init containers run; sidecars are added to `running` too. */
function sumInitContainers(
  initContainers: readonly Container[],
  amountsOf: (container: Container) => Amounts,
  running: Sums,
): Amounts {
  const sidecars: Sums = new Map();
  const starting: Sums = new Map();
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

function addTo(sums: Sums, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const present = sums.get(name);
    sums.set(name, present === undefined ? amount : addQuantities(present, amount));
  }
}

function raise(largest: Sums, name: string, amount: Quantity | undefined): void {
  const present = largest.get(name);
  if (amount === undefined || (present !== undefined && compareQuantities(amount, present) <= 0)) return;
  largest.set(name, amount);
}

function plus(amount: Quantity, more: Quantity | undefined): Quantity {
  return more === undefined ? amount : addQuantities(amount, more);
}
