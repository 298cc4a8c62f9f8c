import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { countsPod, type PriorityQuota, type Excess } from '#shared/domain/quota/priority-quota.ts';
import type { Because } from '#shared/domain/base/because.ts';
import {
  quantitySign,
  subtractQuantities,
  compareQuantities,
  ZERO,
  quantityValue,
  type Quantity,
} from '#shared/domain/quantity/quantity.ts';
import { byName } from '#shared/domain/base/texts.ts';
import { charge } from '#shared/domain/quota/charge.ts';
import { canonicalQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { PHRASES, listSome } from './messages/priority-messages.ts';
import { refuse, type AdmissionDecision, reasonOf } from './decision.ts';
import { MESSAGES } from './messages.ts';
import type { ExceededAmounts } from './messages/quota-messages.ts';
import type { KnownPods } from './cluster-state.ts';

/** The holders of a PriorityQuota, as far as they are known. */
export interface QuotaHolders {
  /** The namespaces that use most of the first exceeded resource, largest first. */
  readonly namespaces: readonly string[];
  readonly knownPods: KnownPods;
  readonly now: Instant;
}

/**
 * The refusal of a pod for which a PriorityQuota has no room; `undefined` if nothing is exceeded. Only the names of
 * other namespaces are shown: pods in other namespaces are not disclosed.
 */
export function priorityQuotaExceeded(
  quota: PriorityQuota,
  pod: Pod,
  [first, ...more]: readonly Excess[],
  holders: QuotaHolders,
): AdmissionDecision | undefined {
  if (first === undefined) return undefined;
  const { name } = quota;
  const holdersOf = (resource: string) => [
    ...ifAny(holders.namespaces.map((namespace) => `\`${namespace}\``).join(', '), PHRASES.largestNamespaces),
    ...ifAny(podHolders(quota, pod.namespace, holders, resource), (pods) => PHRASES.largestPodsIn(pod.namespace, pods)),
  ];
  const full = { kind: 'PriorityQuota', name, where: 'over all its namespaces', holdersOf } as const;
  return refuse(MESSAGES.quotaExceeded.status, quotaExceeded(full, pod, [first, ...more]));
}

function podHolders({ scope }: PriorityQuota, own: string, { knownPods, now }: QuotaHolders, resource: string): string {
  return describePodHolders(knownPods, (pod) => pod.namespace === own && countsPod(scope, pod), resource, now);
}

function ifAny(names: string, clause: (names: string) => string): readonly string[] {
  return names === '' ? [] : [clause(names)];
}

/** A full quota, as a refusal describes it. */
export interface FullQuota {
  readonly kind: 'ResourceQuota' | 'PriorityQuota';
  readonly name: string;
  /** `in namespace …`, `over all its namespaces`. */
  readonly where: string;
  /** Clauses that name the holders of a resource; empty if they are not known. */
  readonly holdersOf: (resource: string) => readonly string[];
}

/**
 * Describes the first exceeded resource with quota, used and requested amounts and limit; the other resources are only
 * named.
 */
export function quotaExceeded(quota: FullQuota, pod: Pod, exceeded: readonly [Excess, ...Excess[]]): Because {
  const [{ resource, asked, used, hard }, ...more] = exceeded;
  const free = subtractQuantities(hard, used);
  const facts = {
    quota: quota.name,
    priorityClassName: pod.spec.priorityClassName ?? '',
    resource,
    used: readableQuantity(used),
    asked: readableQuantity(asked),
    hard: readableQuantity(hard),
  };
  const figures = {
    ...facts,
    where: quota.where,
    free: quantitySign(free) > 0 ? readableQuantity(free) : undefined,
    others: more.map((excess) => excess.resource),
    amounts: exceeded.map(amountsOf),
    holders: quota.holdersOf(resource),
  };
  return reasonOf(MESSAGES.quotaExceeded, figures, { ...facts, quotaKind: quota.kind, namespace: pod.namespace });
}

function amountsOf({ resource, asked, used, hard }: Excess): ExceededAmounts {
  return {
    resource,
    asked: canonicalQuantity(asked),
    used: canonicalQuantity(used),
    hard: canonicalQuantity(hard),
  };
}

/**
 * The pods that use most of a resource: `` `a` (2Gi), `b` (1Gi) and 3 more ``; empty if none is known. `isCounted` says
 * which of the known pods the quota counts.
 */
export function describePodHolders(
  { pods, isPartial }: KnownPods,
  isCounted: (pod: Pod) => boolean,
  resource: string,
  now: Instant,
): string {
  const holders = pods
    .filter(isCounted)
    .map((pod) => ({ name: pod.name, amount: charge(pod, now).get(resource) ?? ZERO }))
    .filter(({ amount }) => quantitySign(amount) > 0)
    .sort((a, b) => compareQuantities(b.amount, a.amount) || byName(a, b));
  if (holders.length === 0) return '';
  return listSome(
    holders.map(({ name, amount }) => `\`${name}\` (${readableQuantity(amount)})`),
    isPartial,
  );
}

const BINARY_UNITS = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki'] as const;
const KI = 1024n;

/** A human-readable quantity: `7.5Gi` instead of the canonical `7680Mi`; exact, with at most two decimals. */
export function readableQuantity(quantity: Quantity): string {
  const canonical = canonicalQuantity(quantity);
  if (quantity.format !== 'BinarySI' || !/i$/.test(canonical)) return canonical;
  const bytes = BigInt(quantityValue(quantity));
  for (const [index, unit] of BINARY_UNITS.entries()) {
    const size = KI ** BigInt(BINARY_UNITS.length - index);
    if (bytes >= size && (bytes * 100n) % size === 0n) return `${hundredths((bytes * 100n) / size)}${unit}`;
  }
  return canonical;
}

function hundredths(value: bigint): string {
  const decimals = String(value % 100n)
    .padStart(2, '0')
    .replace(/0+$/, '');
  return decimals === '' ? String(value / 100n) : `${value / 100n}.${decimals}`;
}
