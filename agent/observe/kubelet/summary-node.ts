import { decodeSummary, type Summary } from '#shared/kube/decode/decode-summary.ts';
import { NO_MEMORY_READINGS } from '#shared/domain/pressure/memory-figure.ts';
import type {
  FilesystemReading,
  MemoryReading,
  NodeReadings,
  ProcessReading,
} from '#shared/domain/pressure/observation.ts';
import { usageByUid, type UsageByUid } from '#shared/domain/ranking/pod-usage.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import { NO_RECLAIM_RATES, type NodeView } from '#agent/decide/snapshot/node-view.ts';
import { NO_GROUPS } from '#agent/observe/cgroup/group-meter.ts';
import { fetchKubeletSummary, type KubeletAddress } from './kubelet-summary.ts';
import type { NodeSource } from '#agent/observe/node/node-source.ts';
import { createPolledSource } from '#agent/observe/source/polled-source.ts';
import { NO_STALLS, summaryStalls } from './summary-stalls.ts';

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
const NO_READINGS: NodeReadings = {
  memory: undefined,
  allocatableMemory: undefined,
  nodeFilesystem: undefined,
  imageFilesystem: undefined,
  containerFilesystem: undefined,
  processes: undefined,
};
const NO_USAGE: UsageByUid = new Map();

/** A summary and the JSON that it was decoded from. */
interface Answer {
  readonly summary: Summary;
  readonly raw: unknown;
}

/** Reads and decodes the summary once; rejects with the field that could not be read. */
export async function askSummary(kubelet: KubeletAddress, signal: AbortSignal): Promise<Answer> {
  const raw = await fetchKubeletSummary(kubelet, signal);
  const decoded = decodeSummary(raw);
  if (!decoded.ok) throw new Error(`summary field "${decoded.field}": ${decoded.message}`);
  return { summary: decoded.value, raw };
}

type Timed = MemoryReading | FilesystemReading | ProcessReading;

/**
 * Converts the kubelet's wall times, taken from the same clock, to monotonic ones, so that a clock jump does not change
 * an age. A reading that is too old is dropped.
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

  function keep({ summary, raw }: Answer): true {
    readings = timed(summary.readings, clock);
    usages = usageByUid(summary.pods);
    stalls = summaryStalls(raw, clock.now() - OLDEST_MS);
    return true;
  }

  const isFresh = (): boolean => polled.latest().kind === 'reading';

  function readNode(): NodeView {
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
