/**
 * Runs in a guest, alone there: a pod uses up the node's memory in several ways while the agent enforces. Prints for each
 * case who was evicted, what was left then and at least, and whether the kernel killed, as JSON.
 */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { warmCompileCache } from '#test/agent/agent-process.ts';
import { hog, leastWhileItRuns } from './group-process.ts';
import { leastUntil, type Left, lesser, openGuestMemory } from './guest-memory.ts';
import { type GuestPods, startGuestPods } from './guest-pods.ts';
import {
  besideHugePages,
  dropCaches,
  fillSockets,
  leaveData,
  makeFile,
  makeMemoryVolume,
  readAgainAndAgain,
} from './memory-uses.ts';
import { letTimePass } from '#test/build/waiting.ts';

const MAX_MS = 120_000;
const RATE_MIB = 100;
const MAX_MIB = 3000;
const HUGE_PAGES = 250;
const THRESHOLD_MIB = 250;
const CACHE_MS = 5000;
/** An eviction too many would follow within this. */
const LATER_MS = 1000;
/** What the cached file leaves by the kubelet's figure, which counts none of it as available: clearly below the threshold. */
const LEFT_BY_KUBELET_MIB = 190;
/** What data in memory leaves of it: below the threshold, and above what the kernel kills at. */
const LEFT_MIB = 120;
/** What an agent does that goes by the kubelet's figure. */
const BY_KUBELET = { mode: 'Enforce', memoryFigure: 'Kubelet', evictionHard: { 'memory.available': '250Mi' } };

/** What happened in one case. */
export interface MemoryOutcome {
  readonly evicted: readonly string[];
  readonly atFirstEviction: Left | undefined;
  readonly least: Left;
  readonly oomKills: number;
}

type Use = (pods: GuestPods) => Promise<Left>;

const memory = openGuestMemory();

/** Reads a file over and over that fills the memory: for the kubelet nearly nothing is left, the kernel gives it back. */
async function readFiles(pods: GuestPods): Promise<Left> {
  dropCaches();
  const file = makeFile(memory.left().kubeletMiB - LEFT_BY_KUBELET_MIB);
  pods.start(readAgainAndAgain(file.path));
  const isDone = ({ kubeletMiB }: Left): boolean => kubeletMiB < THRESHOLD_MIB || pods.evicted.length > 0;
  const before = await leastUntil(memory, isDone, MAX_MS);
  const after = await leastUntil(memory, () => pods.evicted.length > 0, CACHE_MS);
  file.remove();
  return lesser(before, after);
}

function untilItEnds(pods: GuestPods, command: readonly string[]): Promise<Left> {
  return leastWhileItRuns(memory, () => pods.start(command), MAX_MS);
}

function leakBesideHugePages(pods: GuestPods): Promise<Left> {
  return besideHugePages(HUGE_PAGES, () => untilItEnds(pods, hog(MAX_MIB, RATE_MIB)));
}

function leakIntoSockets(pods: GuestPods): Promise<Left> {
  return untilItEnds(pods, fillSockets(MAX_MIB, RATE_MIB));
}

/** What a pod wrote to memory stays its own when the writer has ended, and goes with the pod's volumes. */
async function leaveDataInMemory(pods: GuestPods): Promise<Left> {
  const mebibytes = memory.left().memAvailableMiB - LEFT_MIB;
  const volume = makeMemoryVolume();
  const data = `${volume.path}/data`;
  pods.afterEviction = () => rmSync(data);
  try {
    await once(pods.start(leaveData(data, mebibytes)), 'exit');
    return await leastUntil(memory, () => pods.evicted.length > 0, CACHE_MS);
  } finally {
    volume.remove();
  }
}

async function outcomeOf(use: Use, policy?: object): Promise<MemoryOutcome> {
  const pods = await startGuestPods(policy);
  const killsBefore = memory.oomKills();
  let atFirstEviction: Left | undefined;
  pods.onEvicted = () => (atFirstEviction ??= memory.left());
  try {
    const least = await use(pods);
    await letTimePass(LATER_MS, 'watched');
    return { evicted: pods.evicted, atFirstEviction, least, oomKills: memory.oomKills() - killsBefore };
  } finally {
    await pods.close();
  }
}

/** By name; each with the settings that the agent has by itself, two also with the figure of the kubelet. The kernel kills in the last. */
const CASES: Readonly<Record<string, () => Promise<MemoryOutcome>>> = {
  pageCache: () => outcomeOf(readFiles),
  pageCacheByKubelet: () => outcomeOf(readFiles, BY_KUBELET),
  hugePages: () => outcomeOf(leakBesideHugePages),
  sockets: () => outcomeOf(leakIntoSockets),
  tmpfs: () => outcomeOf(leaveDataInMemory),
  hugePagesByKubelet: () => outcomeOf(leakBesideHugePages, BY_KUBELET),
};

await warmCompileCache();
const outcomes: Record<string, MemoryOutcome> = {};
for (const [name, run] of Object.entries(CASES)) {
  outcomes[name] = await run();
  console.error(name, JSON.stringify(outcomes[name]));
}
console.log(JSON.stringify(outcomes));
