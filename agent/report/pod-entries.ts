import { compareTexts } from '#shared/domain/base/texts.ts';
import { canonicalQuantity } from '#shared/domain/quantity/format-quantity.ts';
import {
  addDecimals,
  type Decimal,
  negateDecimal,
  roundDecimal,
  quantityFromMilli,
} from '#shared/domain/quantity/quantity.ts';
import { wholeQuantity } from '#shared/domain/pressure/signal.ts';
import type { RankingFacts } from '#shared/domain/ranking/candidate.ts';
import { NANO_PER_MILLI, type PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import type { PodEntry } from '#shared/api/node-pressure.ts';
import {
  isAtCpuLimit,
  isAtMemoryLimit,
  type NodeSnapshot,
  type PodPressure,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';

/** Maximum entries: pods that wait or were killed, and for each resource pods that exceed their requests. */
const MAX_COUNTS = { waiting: 10, cpu: 5, memory: 5 } as const;
/** In percent; a smaller share of waiting is normal. */
const LEAST_WAITING = 5;

type EntrySources = Pick<NodeSnapshot, 'pods' | 'podPressures' | 'usage' | 'doubtfulPods'>;

/** A running pod with its measurements. */
interface MeasuredPod {
  readonly facts: RankingFacts;
  readonly usage: PodUsage | undefined;
  readonly waiting: PodEntry['waiting'];
  readonly oomKills: number | undefined;
}

/** The pods that suffer on the node, and the pods that may cause it (S3-4, S3-5). */
export function podEntries(seen: EntrySources): readonly PodEntry[] {
  const measured = seen.pods.running.map((facts) => measure(facts, seen));
  const named = [
    ...top(measured, (each) => suffering(each), MAX_COUNTS.waiting),
    ...top(measured, cpuOverage, MAX_COUNTS.cpu),
    ...top(measured, memoryOverage, MAX_COUNTS.memory),
  ];
  return [...new Set(named)].map(encode);
}

function measure(facts: RankingFacts, { podPressures, usage, doubtfulPods }: EntrySources): MeasuredPod {
  const { uid } = facts.pod;
  const podPressure = podPressures.get(uid);
  return {
    facts,
    usage: doubtfulPods.has(uid) ? undefined : usage.get(uid),
    waiting: podPressure === undefined ? {} : waitingOf(podPressure),
    oomKills: podPressure?.oomKills,
  };
}

/**
 * A pod that its own limit slows down does not wait for other pods; at its memory limit it reads its files again and
 * again.
 */
function waitingOf(podPressure: PodPressure): PodEntry['waiting'] {
  const { memory, cpu, io } = podPressure.waiting;
  const isThrashing = isAtMemoryLimit(podPressure);
  return {
    cpu: isAtCpuLimit(podPressure) ? undefined : percent(cpu),
    memory: isThrashing ? undefined : percent(memory),
    io: isThrashing ? undefined : percent(io),
  };
}

function percent(share: number | undefined): number | undefined {
  return share === undefined ? undefined : Math.min(100, Math.round(share * 100));
}

/** The largest ones above zero. Among equal ones the UID decides, so that the list does not change without a cause. */
function top(
  measured: readonly MeasuredPod[],
  sizeOf: (each: MeasuredPod) => number,
  most: number,
): readonly MeasuredPod[] {
  const sized = measured.map((each) => ({ each, size: sizeOf(each) })).filter(({ size }) => size > 0);
  sized.sort((a, b) => b.size - a.size || compareTexts(a.each.facts.pod.uid, b.each.facts.pod.uid));
  return sized.slice(0, most).map(({ each }) => each);
}

function suffering({ waiting: { cpu = 0, memory = 0, io = 0 }, oomKills = 0 }: MeasuredPod): number {
  const waits = Math.max(cpu, memory, io);
  return (waits < LEAST_WAITING ? 0 : waits) + (oomKills > 0 ? 100 : 0);
}

function cpuOverage({ facts, usage }: MeasuredPod): number {
  return overage(usage?.cpuNanoCores, facts.requests.cpu);
}

function memoryOverage({ facts, usage }: MeasuredPod): number {
  return overage(usage?.memory?.workingSetBytes, facts.requests.memory);
}

function overage(used: number | undefined, request: Decimal): number {
  if (used === undefined) return 0;
  return Number(roundDecimal(addDecimals({ mantissa: used, exponent: 0 }, negateDecimal(request)), 0));
}

function encode({ facts: { pod }, usage, waiting, oomKills }: MeasuredPod): PodEntry {
  const [cpu, memory] = [usage?.cpuNanoCores, usage?.memory?.workingSetBytes];
  return {
    pod: `${pod.namespace}/${pod.name}`,
    uid: pod.uid,
    cpu:
      cpu === undefined
        ? undefined
        : canonicalQuantity(quantityFromMilli(Math.round(cpu / NANO_PER_MILLI), 'DecimalSI')),
    memory: memory === undefined ? undefined : canonicalQuantity(wholeQuantity(memory, 'BinarySI')),
    waiting,
    oomKills,
  };
}
