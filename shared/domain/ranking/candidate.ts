import {
  type Decimal,
  addDecimals,
  compareDecimals,
  negateDecimal,
  roundDecimal,
} from '#shared/domain/quantity/quantity.ts';
import { type Instant, type Pod, claimedDaemonSet, controllerOf } from '#shared/domain/pod/pod.ts';
import { SPARE_KINDS } from '#shared/domain/spare/spare-resources.ts';
import { usesSpareRoom } from '#shared/domain/spare/spare-room.ts';
import { reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import {
  type DiskLayout,
  type Signal,
  type StarvedResource,
  resourceOf,
  wholeQuantity,
} from '#shared/domain/pressure/signal.ts';
import { type PodUsage, kubeletRequests, measuredUsage, RESOURCES, type Unit } from './pod-usage.ts';

/** The facts that decide a pod's rank and change only with the pod: computed once per change. */
export interface RankingFacts {
  readonly pod: Pod;
  readonly priority: number;
  /** As reported, without checking it, else as computed. */
  readonly qos: string;
  /** As the pod claims: it decides only the rank among equals. */
  readonly isDaemonSetPod: boolean;
  readonly hasController: boolean;
  /** It names a gang, which may be lost without it. */
  readonly isOfGang?: boolean;
  /** It runs on what others requested and do not use, which they may need back at any time. */
  readonly isInSpareRoom: boolean;
  readonly startedAt: Instant | undefined;
  /** The requests that the kubelet compares usage with, by resource. */
  readonly requests: Readonly<Record<StarvedResource, Decimal>>;
}

/** A pod as plain numbers for one signal: computed once per pass, then only compared. */
export interface Candidate {
  readonly facts: RankingFacts;
  readonly signal: Signal;
  /** In the signal's unit; `undefined` if the pod has no statistics. */
  readonly usage: number | undefined;
  readonly request: Decimal;
  readonly exceedsRequest: boolean;
  /** Usage minus request, exact to the milli-byte; for inodes, minus the requested bytes of disk. */
  readonly overage: Decimal;
  /** `overage` as a double: different doubles give the order; equal doubles may hide a difference. */
  readonly roundedOverage: number;
  /** Usage divided by request; infinite for any usage without a request (S0-16). */
  readonly share: number;
  /** The pod asked to be evicted last. */
  readonly isMarkedLast: boolean;
  /** When a pod of the same owner was last disrupted, if known. */
  readonly ownerDisruptedAt: Instant | undefined;
}

/** Whether it must make way: it runs on what others requested of this resource, and did not request it itself. */
export function mustMakeWay({ facts, signal }: Pick<Candidate, 'facts' | 'signal'>): boolean {
  return facts.isInSpareRoom && SPARE_KINDS.some((kind) => kind === resourceOf(signal));
}

/** What ranking uses in addition to pod and statistics. */
export interface Circumstances {
  readonly isMarkedLast?: boolean;
  readonly ownerDisruptedAt?: Instant | undefined;
}

const NOTHING: Decimal = { mantissa: 0, exponent: 0 };

export const LOWEST_PRIORITY = -(2 ** 31);
export const HIGHEST_PRIORITY = 2 ** 31 - 1;

/**
 * The facts of a pod; a missing priority counts as 0 (S1-32), one beyond 32 bits as the nearest that the API stores.
 */
export function rankingFacts(pod: Pod): RankingFacts {
  return {
    pod,
    priority: Math.min(Math.max(pod.spec.priority ?? 0, LOWEST_PRIORITY), HIGHEST_PRIORITY),
    qos: reportedQosClass(pod),
    isDaemonSetPod: claimedDaemonSet(pod) !== undefined,
    hasController: controllerOf(pod) !== undefined,
    isInSpareRoom: usesSpareRoom(pod),
    startedAt: pod.status.startTime,
    requests: requestsToHoldAgainst(pod),
  };
}

const ENTRIES = Object.entries(RESOURCES);

function requestsToHoldAgainst(pod: Pod): RankingFacts['requests'] {
  const requests = kubeletRequests(pod);
  const held: Record<string, Decimal> = {};
  for (const [name, { requestable, unit }] of ENTRIES)
    held[name] = inUnit((requestable ? requests.get(name) : undefined) ?? NOTHING, unit);
  return held as RankingFacts['requests'];
}

function inUnit(amount: Decimal, unit: Unit): Decimal {
  return unit.exponent === 0 ? amount : { mantissa: amount.mantissa, exponent: amount.exponent - unit.exponent };
}

/** Combines a pod's facts and its statistics for one signal; a usage of NaN counts as missing. */
export function prepareCandidate(
  facts: RankingFacts,
  usage: PodUsage | undefined,
  against: { readonly signal: Signal; readonly layout: DiskLayout },
  circumstances: Circumstances = {},
): Candidate {
  const { signal, layout } = against;
  const measured = usage === undefined ? NaN : measuredUsage(signal, layout, facts.pod, usage);
  const isKnown = Number.isFinite(measured);
  const request = facts.requests[resourceOf(signal)];
  const subtrahend = facts.requests[subtrahendOf(resourceOf(signal))];
  return {
    facts,
    signal,
    usage: isKnown ? measured : undefined,
    request,
    ...(isKnown ? compareWithRequest(measured, request, subtrahend) : NO_COMPARISON),
    isMarkedLast: circumstances.isMarkedLast ?? false,
    ownerDisruptedAt: circumstances.ownerDisruptedAt,
  };
}

/**
 * Kubernetes subtracts bytes of disk from a number of inodes (`disk` in `pkg/kubelet/eviction/helpers.go`), so this
 * does too.
 */
function subtrahendOf(resource: StarvedResource): StarvedResource {
  return resource === 'inodes' ? 'ephemeral-storage' : resource;
}

type ComparedUsage = Pick<Candidate, 'exceedsRequest' | 'overage' | 'roundedOverage' | 'share'>;

/** Two pods without statistics tie, regardless of their requests. */
const NO_COMPARISON: ComparedUsage = { exceedsRequest: false, overage: NOTHING, roundedOverage: 0, share: 0 };

function compareWithRequest(usage: number, request: Decimal, subtrahend: Decimal): ComparedUsage {
  const used = wholeQuantity(usage, 'DecimalSI');
  const overage = addDecimals(used, negateDecimal(subtrahend));
  return {
    exceedsRequest: compareDecimals(used, request) > 0,
    overage,
    roundedOverage: Number(roundDecimal(overage, 0)),
    share: usage === 0 ? 0 : usage / toDouble(request),
  };
}

function toDouble({ mantissa, exponent }: Decimal): number {
  return exponent < 0 ? Number(mantissa) / 10 ** -exponent : Number(mantissa) * 10 ** exponent;
}
