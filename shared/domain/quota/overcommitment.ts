import { addAmounts, type Amounts, NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import { compareQuantities, type Quantity } from '#shared/domain/quantity/quantity.ts';

/** What a quota allows, and the highest priority that it allows it to. */
export interface QuotaLevel {
  readonly name: string;
  readonly priority: number;
  readonly hard: Amounts;
}

/** A resource of which quotas allow more, in sum, than the nodes have. */
export interface Overcommitment {
  readonly resource: string;
  readonly allowed: Quantity;
  readonly allocatable: Quantity;
  readonly quotas: readonly string[];
}

/** Of all quotas, and of those of the highest priority alone. */
export interface Overcommitments {
  readonly top: readonly Overcommitment[];
  readonly all: readonly Overcommitment[];
}

/**
 * Compares the sum of quotas with what the nodes have (S3-12). Where the quotas of the highest priority exceed it, not
 * every pod within its quota can run, whatever is preempted. That all of them together exceed it is overcommitment: lower
 * priorities give way.
 */
export function overcommitments(quotas: readonly QuotaLevel[], allocatable: Amounts): Overcommitments {
  const highest = Math.max(...quotas.map(({ priority }) => priority));
  const top = quotas.filter(({ priority }) => priority === highest);
  return { top: exceeding(top, allocatable), all: exceeding(quotas, allocatable) };
}

function exceeding(quotas: readonly QuotaLevel[], allocatable: Amounts): readonly Overcommitment[] {
  const limits = quotas.map(({ name, hard }) => ({ name, hard: requestedAmounts(hard) }));
  const sum = limits.reduce<Amounts>((all, { hard }) => addAmounts(all, hard), NO_AMOUNTS);
  return Array.from(sum).flatMap(([resource, allowed]) => {
    const present = allocatable.get(resource);
    if (present === undefined || compareQuantities(allowed, present) <= 0) return [];
    const named = limits.filter(({ hard }) => hard.has(resource)).map(({ name }) => name);
    return [{ resource, allowed, allocatable: present, quotas: named }];
  });
}

const PREFIX = 'requests.';

/** By the node's name for the resource. `cpu` of a quota is short for `requests.cpu`; a limit takes no room. */
function requestedAmounts(hard: Amounts): Amounts {
  return new Map(
    Array.from(hard, ([name, amount]) => [name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name, amount] as const),
  );
}
