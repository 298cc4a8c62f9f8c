/**
 * Runs in a guest, alone there: a pod uses up the node's memory in several ways while the agent enforces. Prints for each
 * case who was evicted, what was left then and at least, and whether the kernel killed, as JSON.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { warmCompileCache } from '#test/agent/agent-process.ts';
import { leastUntil, type Left, openGuestMemory } from './guest-memory.ts';
import { type GuestPods, hog, startGuestPods } from './guest-pods.ts';
import { runProgram } from './run-program.ts';

const MIB = 1024 * 1024;
const MOST_MS = 120_000;
const RATE_MIB = 100;
const HUGE_PAGES = 250;
const HUGE_PAGES_FILE = '/proc/sys/vm/nr_hugepages';
const THRESHOLD_MIB = 250;
const CACHE_MS = 5000;
/** What the cached file leaves of the available memory. */
const SPARE_MIB = 150;
/** What data in memory leaves of it: below the threshold, and above what the kernel kills at. */
const LEFT_MIB = 120;
const CACHED_FILE = '/root/cached';
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
  writeFileSync(CACHED_FILE, '');
  truncateSync(CACHED_FILE, (memory.left().memAvailableMiB - SPARE_MIB) * MIB);
  pods.start(['sh', '-c', `while :; do cat ${CACHED_FILE} > /dev/null; done`]);
  const isDone = ({ kubeletMiB }: Left): boolean => kubeletMiB < THRESHOLD_MIB || pods.evicted.length > 0;
  const before = await leastUntil(memory, isDone, MOST_MS);
  const after = await leastUntil(memory, () => pods.evicted.length > 0, CACHE_MS);
  rmSync(CACHED_FILE);
  return lesser(before, after);
}

function lesser(left: Left, right: Left): Left {
  return {
    memAvailableMiB: Math.min(left.memAvailableMiB, right.memAvailableMiB),
    kubeletMiB: Math.min(left.kubeletMiB, right.kubeletMiB),
  };
}

async function untilItEnds(pods: GuestPods, command: readonly string[]): Promise<Left> {
  const child = pods.start(command);
  return leastUntil(memory, () => child.exitCode !== null || child.signalCode !== null, MOST_MS);
}

async function leakBesideHugePages(pods: GuestPods): Promise<Left> {
  writeFileSync(HUGE_PAGES_FILE, String(HUGE_PAGES));
  try {
    return await untilItEnds(pods, hog(3000, RATE_MIB));
  } finally {
    writeFileSync(HUGE_PAGES_FILE, '0');
  }
}

function fillSockets(pods: GuestPods): Promise<Left> {
  const script = new URL('./fill-sockets.ts', import.meta.url).pathname;
  return untilItEnds(pods, [process.execPath, script, String(RATE_MIB * MIB), String(3000 * MIB)]);
}

/** What a pod wrote to memory stays its own when the writer has ended, and goes with the pod's volumes. */
async function leaveDataInMemory(pods: GuestPods): Promise<Left> {
  const mebibytes = memory.left().memAvailableMiB - LEFT_MIB;
  const folder = mkdtempSync('/run/emptydir-');
  runProgram('mount', ['-t', 'tmpfs', '-o', 'size=90%', 'emptydir', folder]);
  const script = `dd if=/dev/zero of=${folder}/data bs=1M count=${mebibytes} 2> /dev/null`;
  pods.afterEviction = () => rmSync(`${folder}/data`);
  try {
    await once(pods.start(['sh', '-c', script]), 'exit');
    return await leastUntil(memory, () => pods.evicted.length > 0, CACHE_MS);
  } finally {
    runProgram('umount', [folder]);
  }
}

async function outcomeOf(use: Use, policy?: object): Promise<MemoryOutcome> {
  const pods = await startGuestPods(policy);
  const killsBefore = memory.oomKills();
  let atFirstEviction: Left | undefined;
  pods.onEvicted = () => (atFirstEviction ??= memory.left());
  try {
    const least = await use(pods);
    await sleep(1000);
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
  sockets: () => outcomeOf(fillSockets),
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
