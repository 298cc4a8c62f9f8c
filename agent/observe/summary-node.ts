import { decodeSummary, type Summary } from '#shared/kube/decode-summary.ts';
import type {
  FilesystemReading,
  MemoryReading,
  NodeReadings,
  ProcessReading,
} from '#shared/domain/pressure/observation.ts';
import { usageByUid, type UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { NO_RECLAIM_RATES, type NodeView } from '#agent/decide/node-view.ts';
import { NO_STRAINS } from '#agent/decide/pod-strain.ts';
import { fetchKubeletSummary, type KubeletAddress } from './kubelet-summary.ts';
import type { NodeSource } from './node-source.ts';
import { createPolledSource } from './polled-source.ts';
import { createStallMeter } from './stall-meter.ts';
import { summaryStalls, type SummaryStalls } from './summary-stalls.ts';

interface SummaryNodeOptions {
  readonly kubelet: KubeletAddress;
  readonly periodMs: number;
  /** While it says no, the kubelet is left alone. */
  readonly isWanted: () => boolean;
  readonly clock: Clock;
}

const DEADLINE_MS = 5000;
/** What was fetched longer ago than this is no answer any more. */
const TIME_TO_LIVE_MS = 10_000;
/** The kubelet's own entries are up to 16 s old when they arrive (real-kubernetes.md 5.9). */
const OLDEST_MS = 20_000;
const NO_READINGS: NodeReadings = {
  memory: undefined,
  allocatableMemory: undefined,
  nodeFilesystem: undefined,
  imageFilesystem: undefined,
  containerFilesystem: undefined,
  processes: undefined,
};
const NO_USAGE: UsageByUid = new Map();

interface Answer {
  readonly summary: Summary;
  readonly stalls: SummaryStalls;
}

/** Asks once and decodes; rejects with the field that could not be read. */
export async function askSummary(kubelet: KubeletAddress, signal: AbortSignal): Promise<Answer> {
  const raw = await fetchKubeletSummary(kubelet, signal);
  const decoded = decodeSummary(raw);
  if (!decoded.ok) throw new Error(`summary field "${decoded.field}": ${decoded.message}`);
  return { summary: decoded.value, stalls: summaryStalls(raw) };
}

type Timed = MemoryReading | FilesystemReading | ProcessReading;

/**
 * Wall times of the kubelet, which shares this node's clock, as monotonic ones: an age survives a jump of the clock.
 * A figure that is too old is none (law 3).
 */
function onClock<T extends Timed>(reading: T | undefined, clock: Clock): T | undefined {
  if (reading?.at === undefined) return reading;
  const ageMs = Math.max(0, clock.now() - reading.at);
  return ageMs > OLDEST_MS ? undefined : { ...reading, at: clock.monotonic() - ageMs };
}

function timed(readings: NodeReadings, clock: Clock): NodeReadings {
  return {
    memory: onClock(readings.memory, clock),
    allocatableMemory: onClock(readings.allocatableMemory, clock),
    nodeFilesystem: onClock(readings.nodeFilesystem, clock),
    imageFilesystem: onClock(readings.imageFilesystem, clock),
    containerFilesystem: onClock(readings.containerFilesystem, clock),
    processes: onClock(readings.processes, clock),
  };
}

/** The node as its kubelet tells it: for nodes whose files the agent may not see, and for the sandbox. */
export function createSummaryNode({ kubelet, periodMs, isWanted, clock }: SummaryNodeOptions): NodeSource {
  const meters = {
    memory: createStallMeter('memory.pressure'),
    cpu: createStallMeter('cpu.pressure'),
    io: createStallMeter('io.pressure'),
  };
  let readings = NO_READINGS;
  let usages = NO_USAGE;

  const polled = createPolledSource({
    name: 'kubelet-summary',
    timeToLiveMs: TIME_TO_LIVE_MS,
    clock,
    ask: async (signal) => keep(await askSummary(kubelet, signal)),
  });

  function keep({ summary, stalls }: Answer): true {
    readings = timed(summary.readings, clock);
    usages = usageByUid(summary.pods);
    for (const resource of ['memory', 'cpu', 'io'] as const) meters[resource].note(stalls[resource], clock.monotonic());
    return true;
  }

  function look(): NodeView {
    const isFresh = polled.latest().kind === 'reading';
    return {
      readings: isFresh ? readings : NO_READINGS,
      stalls: isFresh ? Object.values(meters).flatMap((meter) => meter.ratios()) : [],
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
    look,
    follow: () => undefined,
    usage: () => (polled.latest().kind === 'reading' ? usages : NO_USAGE),
    strains: () => NO_STRAINS,
    containers: (uid) => usages.get(uid)?.containers ?? [],
    fallback: () => undefined,
    health: () => [polled.health()],
    run,
    close: () => undefined,
  };
}
