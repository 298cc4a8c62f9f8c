import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { RandomSource } from '#test/fakes/random-source.ts';
import { hasEnded, hog } from '#test/cluster/guest/memory/group-process.ts';
import { type GuestMemory, leastUntil } from '#test/cluster/guest/memory/guest-memory.ts';
import {
  besideHugePages,
  dropCaches,
  fillSockets,
  leaveData,
  makeFile,
  makeMemoryVolume,
  readAgainAndAgain,
} from '#test/cluster/guest/memory/memory-uses.ts';
import type { SoakNode } from './soak-node.ts';
import { letTimePass } from '#test/build/waiting.ts';

/** What an episode happens to. */
export interface Scene {
  readonly node: SoakNode;
  readonly memory: GuestMemory;
  readonly random: RandomSource;
  /** The pod that takes the memory. */
  readonly culprit: string;
}

/** Something that happens on the node for a while. Amounts in MiB. */
export interface EpisodeKind {
  /** Whether memory runs out, so that the culprit has to go. */
  readonly isCostly: boolean;
  /** Whether the kernel must not kill: the ramp leaves the agent time, and the API server answers. */
  readonly mustBeCaught: boolean;
  /** Whether evictions may be refused, so that another pod may go than the culprit. */
  readonly isApiFaulty?: boolean;
  /** Resolves when it is over by itself or by the end of its pod. */
  readonly run: (scene: Scene) => Promise<void>;
}

const MAX_MIB = 3000;
/** 0.3 GB/s. */
const FASTEST_MIB = 286;
/** How long the data stays after its pod has gone. */
const LINGERS_MS = 500;
/** An agent on a busy machine takes seconds to notice. */
const READS_MS = 15_000;
/** A slow leak on a busy machine takes minutes. */
const MAX_MS = 300_000;
/** A kernel may keep all that is read among the pages that it would give back first; the kubelet counts those as available. */
const MAX_UNTIL_CACHED_MS = 240_000;
const REFUSED = { kind: 'Status', status: 'Failure' };
const SLOW_MS = 1500;

/** What an API server in trouble answers to an eviction. */
const FAULTS: SoakNode['api']['evictionAnswers'] = [
  { status: 500, body: { ...REFUSED, code: 500, reason: 'InternalError', message: 'a webhook failed' } },
  { status: 503, body: { ...REFUSED, code: 503, reason: 'ServiceUnavailable', message: 'try later' } },
  {
    status: 429,
    body: { ...REFUSED, code: 429, reason: 'TooManyRequests', message: 'busy', details: { retryAfterSeconds: 1 } },
  },
];

/** Slow ones are as frequent as fast ones. */
function rate(random: RandomSource, least: number, most: number): number {
  return Math.round(least * (most / least) ** random.next());
}

async function leak({ node, memory, culprit }: Scene, mebibytesPerSecond: number): Promise<void> {
  await untilItEnds(memory, node.start(culprit, hog(MAX_MIB, mebibytesPerSecond)));
}

async function untilItEnds(memory: GuestMemory, child: ChildProcess): Promise<void> {
  await leastUntil(memory, () => hasEnded(child), MAX_MS);
}

interface Reading {
  readonly leavesMiB: number;
  /** What must be left as the kubelet counts before the work begins. */
  readonly untilMiB: number;
  readonly work: () => Promise<void>;
}

/** A pod reads a file over and over; what it leaves of the memory goes to page cache. */
async function withReader(
  { node, memory }: Scene,
  reader: string,
  { leavesMiB, untilMiB, work }: Reading,
): Promise<void> {
  dropCaches();
  const file = makeFile(memory.left().memAvailableMiB - leavesMiB);
  const child = node.start(reader, readAgainAndAgain(file.path));
  await leastUntil(memory, ({ kubeletMiB }) => kubeletMiB < untilMiB || hasEnded(child), MAX_UNTIL_CACHED_MS);
  await work();
  node.calm();
  file.remove();
}

async function fillAndLeave({ node, memory, culprit }: Scene, leavesMiB: number): Promise<void> {
  const volume = makeMemoryVolume();
  const data = `${volume.path}/data`;
  node.removeWith(culprit, () => rmSync(data, { force: true }));
  await once(node.start(culprit, leaveData(data, memory.left().memAvailableMiB - leavesMiB)), 'exit');
  await leastUntil(memory, () => node.evicted.some(({ pod }) => pod === culprit), MAX_MS);
  await letTimePass(LINGERS_MS, 'load');
  rmSync(data, { force: true });
  volume.remove();
}

async function leakWhileApiFails(scene: Scene): Promise<void> {
  const { api } = scene.node;
  const { random } = scene;
  const faults = 1 + random.below(2);
  for (let fault = 0; fault < faults; fault += 1) api.evictionAnswers.push(random.pick(FAULTS));
  if (random.chance(0.5)) api.evictionDelayMs = random.below(SLOW_MS);
  await leak(scene, rate(random, 20, 40));
  api.evictionAnswers.length = 0;
  api.evictionDelayMs = 0;
}

async function burst({ node, memory, random, culprit }: Scene): Promise<void> {
  const mebibytes = memory.left().memAvailableMiB - 300 - random.below(150);
  const child = node.start(culprit, hog(mebibytes, rate(random, 100, 1000)));
  const floor = memory.left().memAvailableMiB - mebibytes + 10;
  await leastUntil(memory, ({ memAvailableMiB }) => memAvailableMiB < floor || hasEnded(child), MAX_MS);
  await letTimePass(random.below(2000), 'load');
}

/** By name. */
export const EPISODE_KINDS: Readonly<Record<string, EpisodeKind>> = {
  leak: {
    isCostly: true,
    mustBeCaught: true,
    run: (scene) => leak(scene, rate(scene.random, 40, FASTEST_MIB)),
  },
  'leak beside page cache': {
    isCostly: true,
    mustBeCaught: true,
    run: (scene) => {
      const work = (): Promise<void> => leak(scene, rate(scene.random, 40, FASTEST_MIB));
      return withReader(scene, scene.node.bystanders[0] ?? '', { leavesMiB: 300, untilMiB: 600, work });
    },
  },
  'leak beside huge pages': {
    isCostly: true,
    mustBeCaught: true,
    run: (scene) =>
      besideHugePages(50 + scene.random.below(150), () => leak(scene, rate(scene.random, 40, FASTEST_MIB))),
  },
  'leak while another pod ends slowly': {
    isCostly: true,
    mustBeCaught: true,
    run: (scene) => {
      scene.node.deleteSlowly(scene.node.bystanders[1] ?? '', 600);
      return leak(scene, rate(scene.random, 40, FASTEST_MIB));
    },
  },
  'leak while the API server fails': { isCostly: true, mustBeCaught: false, isApiFaulty: true, run: leakWhileApiFails },
  'fast leak': { isCostly: true, mustBeCaught: false, run: (scene) => leak(scene, rate(scene.random, 400, 1000)) },
  sockets: {
    isCostly: true,
    mustBeCaught: true,
    run: ({ node, memory, random, culprit }) =>
      untilItEnds(memory, node.start(culprit, fillSockets(MAX_MIB, rate(random, 30, 100)))),
  },
  'data in memory': {
    isCostly: true,
    mustBeCaught: true,
    run: (scene) => fillAndLeave(scene, 120 + scene.random.below(80)),
  },
  'page cache': {
    isCostly: false,
    mustBeCaught: true,
    run: (scene) =>
      withReader(scene, scene.culprit, {
        leavesMiB: 150,
        untilMiB: 240,
        work: async () => {
          await leastUntil(scene.memory, () => scene.node.evicted.some(({ pod }) => pod === scene.culprit), READS_MS);
        },
      }),
  },
  'short burst': { isCostly: false, mustBeCaught: true, run: burst },
  'burst beside page cache': {
    isCostly: false,
    mustBeCaught: true,
    run: (scene) =>
      withReader(scene, scene.node.bystanders[0] ?? '', { leavesMiB: 300, untilMiB: 600, work: () => burst(scene) }),
  },
};
