import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { quantityMilliValue, quantityValue } from '#shared/domain/quantity/quantity.ts';
import { isExtendedResource, BASIC_RESOURCES } from '#shared/domain/quantity/resource-columns.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';

/**
 * The amounts of the resources that the scheduler counts: milli of cpu, whole units of the rest, rounded up.
 * `pkg/scheduler/framework/types.go` Resource.Add.
 */
export function scheduledAmounts(amounts: Amounts): ReadonlyMap<string, Whole> {
  const whole = new Map<string, Whole>();
  for (const [name, quantity] of amounts) {
    if (!isScheduledResource(name)) continue;
    whole.set(name, name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity));
  }
  return whole;
}

/** True for a resource that the scheduler counts. `pkg/scheduler/util/utils.go` IsScalarResourceName, and the basic three. */
function isScheduledResource(name: string): boolean {
  return (
    BASIC_RESOURCES.includes(name) ||
    name.startsWith('hugepages-') ||
    name.startsWith('attachable-volumes-') ||
    name.includes('kubernetes.io/') ||
    isExtendedResource(name)
  );
}
