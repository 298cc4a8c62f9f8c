import { decodeSummary, type Summary } from '#shared/kube/decode/decode-summary.ts';
import { NO_MEMORY_READINGS } from '#shared/domain/pressure/memory-figure.ts';
import type { NodeReadings } from '#shared/domain/pressure/signal.ts';
import { usageByUid, type UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import {
  NO_RECLAIM_RATES,
  type ObservedNode,
  NO_POD_PRESSURES,
  type PodPressure,
  type ResourceShares,
  type PodPressureByUid,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { NO_GROUPS } from '#agent/observe/cgroup/pod-rates.ts';
import type { NodeSource } from '#agent/observe/node/node-source.ts';
import { createPolledSource } from '#agent/observe/source/source.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import type { StallRatio } from '#shared/api/node-pressure-policy/policy.ts';
import { fetchKubeletSummary, type KubeletAddress } from './kubelet-summary.ts';

interface SummaryNodeOptions {
  readonly kubelet: KubeletAddress;
  readonly periodMs: number;
  /** The kubelet is polled only while this returns true. */
  readonly isWanted: () => boolean;
  readonly clock: Clock;
}

const DEADLINE_MS = 5000;
/** An answer older than this counts as missing. */
const TIME_TO_LIVE_MS = 10_000;
/** The kubelet's entries are up to 16 s old when they arrive. */
const OLDEST_MS = 20_000;
const NO_READINGS: NodeReadings = {};
const NO_USAGE: UsageByUid = new Map();

/** A summary and the JSON that it was decoded from. */
interface DecodedSummary {
  readonly summary: Summary;
  readonly raw: unknown;
}

/** Reads and decodes the summary once; rejects with the field that could not be read. */
export async function askSummary(kubelet: KubeletAddress, signal: AbortSignal): Promise<DecodedSummary> {
  const raw = await fetchKubeletSummary(kubelet, signal);
  const decoded = decodeSummary(raw);
  if (!decoded.ok) throw new Error(`summary field "${decoded.field}": ${decoded.message}`);
  return { summary: decoded.value, raw };
}

type Timed = NonNullable<NodeReadings[keyof NodeReadings]>;

/**
 * Converts the kubelet's wall times, taken from the same clock, to monotonic ones, so that a clock jump does not change
 * an age. A reading that is too old is dropped.
 */
function onClock(reading: Timed | undefined, clock: Clock): Timed | undefined {
  if (reading?.at === undefined) return reading;
  const ageMs = Math.max(0, clock.now() - reading.at);
  return ageMs > OLDEST_MS ? undefined : { ...reading, at: clock.monotonic() - ageMs };
}

function timed(readings: NodeReadings, clock: Clock): NodeReadings {
  const entries = Object.entries({ ...readings });
  return Object.fromEntries(entries.map(([name, reading]) => [name, onClock(reading, clock)]));
}

/** The node as its kubelet reports it: for nodes whose files the agent cannot read, and for the sandbox. */
export function createSummaryNode({ kubelet, periodMs, isWanted, clock }: SummaryNodeOptions): NodeSource {
  let readings = NO_READINGS;
  let usages = NO_USAGE;
  let stalls = NO_STALLS;

  const polled = createPolledSource({
    name: 'kubelet-summary',
    timeToLiveMs: TIME_TO_LIVE_MS,
    clock,
    ask: async (signal) => keep(await askSummary(kubelet, signal)),
  });

  function keep({ summary, raw }: DecodedSummary): true {
    readings = timed(summary.readings, clock);
    usages = usageByUid(summary.pods);
    stalls = summaryStalls(raw, clock.now() - OLDEST_MS);
    return true;
  }

  const isFresh = (): boolean => polled.latest().kind === 'reading';

  function readNode(): ObservedNode {
    return {
      readings: isFresh() ? readings : NO_READINGS,
      reclaimable: NO_MEMORY_READINGS,
      stalls: (isFresh() ? stalls : NO_STALLS).ratios,
      cpu: undefined,
      reclaim: NO_RECLAIM_RATES,
      oomKills: undefined,
    };
  }

  function run(signal: AbortSignal): Promise<void> {
    const task = (aborted: AbortSignal): Promise<void> => (isWanted() ? polled.poll(aborted) : Promise.resolve());
    return repeat({ task, periodMs, deadlineMs: DEADLINE_MS, onError: () => undefined, clock }, signal);
  }

  return {
    kind: 'summary',
    readNode,
    follow: () => undefined,
    usage: () => (isFresh() ? usages : NO_USAGE),
    groups: () => NO_GROUPS,
    podPressures: () => (isFresh() ? stalls : NO_STALLS).podPressures,
    containers: (uid) => usages.get(uid)?.containers ?? [],
    whyUnmeasured: () => undefined,
    fallback: () => undefined,
    health: () => [polled.health()],
    run,
    close: () => undefined,
  };
}

/** PSI from the kubelet's summary. */
export interface SummaryStalls {
  /** Of the node. */
  readonly ratios: readonly StallRatio[];
  /** Pressure of each pod; the summary has neither limit hits nor throttling. */
  readonly podPressures: PodPressureByUid;
}

export const NO_STALLS: SummaryStalls = { ratios: [], podPressures: NO_POD_PRESSURES };

const RESOURCES = ['memory', 'cpu', 'io'] as const;
const SHARES = ['some', 'full'] as const;
const WINDOWS = [
  ['avg10', 10_000],
  ['avg60', 60_000],
  ['avg300', 300_000],
] as const;
const PERCENT = 100;

type Share = (typeof SHARES)[number];

/**
 * Reads `{node,pods[]}.{memory,cpu,io}.psi` of a summary. The kernel's averages are used as they are: the kubelet reads
 * its counters about every ten seconds, too seldom to compute a ten-second window from them. Entries older than `since`
 * (wall time) are dropped. On cgroup v1 the kubelet writes zeros instead of omitting PSI; every live node has waited for
 * a CPU once, so if that total is 0, PSI of the node and of all pods is ignored.
 */
export function summaryStalls(raw: unknown, since: Instant): SummaryStalls {
  const node = field(raw, 'node');
  if (!hasWaitedForCpu(node)) return NO_STALLS;
  return {
    ratios: RESOURCES.flatMap((resource) => ratiosOf(resource, psiOf(node, resource, since))),
    podPressures: podPressuresOf(field(raw, 'pods'), since),
  };
}

function field(value: unknown, key: string): unknown {
  return isRecord(value) ? value[key] : undefined;
}

function figure(value: unknown, key: string): number | undefined {
  const found = field(value, key);
  return typeof found === 'number' && found >= 0 ? found : undefined;
}

function hasWaitedForCpu(node: unknown): boolean {
  return (figure(field(field(field(node, 'cpu'), 'psi'), 'some'), 'total') ?? 0) > 0;
}

/** PSI of one resource of the node or of a pod, unless it is too old. */
function psiOf(owner: unknown, resource: string, since: Instant): unknown {
  const entry = field(owner, resource);
  return Date.parse(String(field(entry, 'time'))) >= since ? field(entry, 'psi') : undefined;
}

/** From 0 to 1; the wire has percent. */
function average(psi: unknown, share: Share, key: string): number | undefined {
  const percent = figure(field(psi, share), key);
  return percent === undefined ? undefined : Math.min(1, percent / PERCENT);
}

function ratiosOf(resource: (typeof RESOURCES)[number], psi: unknown): readonly StallRatio[] {
  return SHARES.flatMap((share) =>
    WINDOWS.flatMap(([key, windowMs]) => {
      const ratio = average(psi, share, key);
      return ratio === undefined ? [] : [{ signal: `${resource}.pressure` as const, share, windowMs, ratio }];
    }),
  );
}

function podPressuresOf(pods: unknown, since: Instant): PodPressureByUid {
  const podPressures = new Map<string, PodPressure>();
  for (const pod of Array.isArray(pods) ? (pods as readonly unknown[]) : []) {
    const uid = field(field(pod, 'podRef'), 'uid');
    const sharesOf = (share: Share): ResourceShares =>
      Object.fromEntries(RESOURCES.map((resource) => [resource, average(psiOf(pod, resource, since), share, 'avg10')]));
    if (typeof uid === 'string') podPressures.set(uid, { waiting: sharesOf('some'), stalled: sharesOf('full') });
  }
  return podPressures;
}
