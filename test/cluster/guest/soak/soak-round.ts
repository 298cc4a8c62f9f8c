import { MINUTE_MS, SECOND_MS } from '#shared/domain/base/durations.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { type GuestMemory, leastUntil } from '#test/cluster/guest/memory/guest-memory.ts';
import { EPISODE_KINDS, type EpisodeKind } from './soak-episodes.ts';
import { type AskedEviction, brokenLaws, type Evidence, type Sample } from './soak-laws.ts';
import { type SoakNode, type SoakOptions, startSoakNode } from './soak-node.ts';
import { statedReasons } from './stated-reasons.ts';
import { letTimePass } from '#test/build/waiting.ts';

/** What happened in one episode. */
export interface EpisodeOutcome {
  readonly kind: string;
  readonly seconds: number;
  readonly evictions: number;
  /** Requests that reached the API server, whatever it answered. */
  readonly requests: number;
  readonly leastMiB: number;
  /** How fast memory ran out in the worst second. */
  readonly mostMiBPerSecond: number;
  readonly oomKills: number;
  readonly broken: readonly string[];
}

export interface RoundOptions extends Pick<SoakOptions, 'policy' | 'warmUpMs'> {
  readonly memory: GuestMemory;
  /** Decides each episode by itself, whatever happened in those before. */
  readonly seed: number;
  /** Names of `EPISODE_KINDS`. */
  readonly kinds: readonly string[];
}

interface Happened {
  readonly name: string;
  readonly kind: EpisodeKind;
  readonly culprit: string;
  readonly fromMs: number;
  readonly seconds: number;
  readonly oomKills: number;
}

const SAMPLE_MS = 50;
const SETTLE_MS = 1500;
const CALM_MS = 10_000;
/** What a pod leaves behind for a while in slab and page tables. */
const SPARE_MIB = 80;
/** `perMinute` of the limits that hold without a policy. */
const PER_MINUTE = 2;
const MAX_UNTIL_END_MS = 200;

/** Episodes one after another with one agent, and what they broke. */
export async function runRound(options: RoundOptions): Promise<readonly EpisodeOutcome[]> {
  const { memory, seed, kinds } = options;
  const ends = randomSource(seed);
  const endsAfterMs = (): number => ends.below(MAX_UNTIL_END_MS);
  const node = await startSoakNode({ ...options, culprits: kinds.length, endsAfterMs });
  const sampler = startSampler(memory);
  const restMiB = memory.left().memAvailableMiB;
  const happened: Happened[] = [];
  for (const [index, name] of kinds.entries()) {
    const random = randomSource(seed + index);
    happened.push(await runEpisode(name, { node, memory, random, culprit: node.culprits[index] ?? '' }));
    node.calm();
    await leastUntil(memory, ({ memAvailableMiB }) => memAvailableMiB > restMiB - SPARE_MIB, CALM_MS);
    await letTimePass(SETTLE_MS, 'unseen');
  }
  const samples = sampler.stop();
  const output = await node.close();
  const evidence = { samples, stated: statedReasons(output, memory.totalMiB), totalMiB: memory.totalMiB };
  // What comes between two episodes is held against the first of them, so that no request goes unjudged.
  return happened.map((each, index) => {
    const [fromMs, untilMs] = [index === 0 ? 0 : each.fromMs, happened[index + 1]?.fromMs ?? Infinity];
    return outcomeOf({ ...each, fromMs, untilMs }, node, { ...evidence, protectedPods: node.protectedPods });
  });
}

async function runEpisode(name: string, scene: Parameters<EpisodeKind['run']>[0]): Promise<Happened> {
  const kind = EPISODE_KINDS[name];
  if (kind === undefined) throw new Error(`cannot run ${name}: there is no such kind of episode`);
  const { node, memory, culprit } = scene;
  if (kind.isCostly) await untilOneMayGo(node);
  const killsBefore = memory.oomKills();
  const fromMs = performance.now();
  await kind.run(scene);
  const seconds = Math.round((performance.now() - fromMs) / 100) / 10;
  return { name, kind, culprit, fromMs, seconds, oomKills: memory.oomKills() - killsBefore };
}

/** The limits of the agent hold, so that an episode in which a pod must go waits for them. */
async function untilOneMayGo({ evicted }: SoakNode): Promise<void> {
  const nthLast = evicted.at(-PER_MINUTE);
  if (nthLast !== undefined)
    await letTimePass(Math.max(0, nthLast.atMs + MINUTE_MS + SETTLE_MS - performance.now()), 'unseen');
}

interface Judged extends Happened {
  readonly untilMs: number;
}

function outcomeOf(happened: Judged, node: SoakNode, evidence: Omit<Evidence, 'culprit'>): EpisodeOutcome {
  const { name, fromMs, untilMs, seconds, oomKills } = happened;
  const isWithin = ({ atMs }: { readonly atMs: number }): boolean => atMs >= fromMs && atMs < untilMs;
  const asked = askedEvictions(node).filter(isWithin);
  const evicted = node.evicted.filter(isWithin);
  const samples = evidence.samples.filter(isWithin);
  const culprit = happened.kind.isApiFaulty ? undefined : happened.culprit;
  return {
    kind: name,
    seconds,
    evictions: evicted.length,
    requests: asked.length,
    leastMiB: Math.min(...samples.map(({ memAvailableMiB }) => memAvailableMiB)),
    mostMiBPerSecond: fastestFill(samples),
    oomKills,
    broken: [
      ...asked.flatMap((each) => brokenLaws(each, { ...evidence, culprit })),
      ...brokenByEpisode(happened, evicted.length),
    ],
  };
}

function fastestFill(samples: readonly Sample[]): number {
  const fills = samples.map((end) => {
    const start = samples.findLast(({ atMs }) => atMs <= end.atMs - SECOND_MS);
    return start === undefined
      ? 0
      : (start.memAvailableMiB - end.memAvailableMiB) / ((end.atMs - start.atMs) / SECOND_MS);
  });
  return Math.round(Math.max(0, ...fills));
}

function brokenByEpisode({ kind, oomKills }: Happened, evictions: number): readonly string[] {
  const laws: readonly (readonly [isKept: boolean, law: string])[] = [
    [!kind.mustBeCaught || oomKills === 0, 'the kernel does not kill where there is time'],
    [!kind.isCostly || evictions + oomKills > 0, 'a shortage costs a pod'],
    [kind.isCostly || evictions === 0, 'what is no shortage costs no pod'],
  ];
  return laws.filter(([isKept]) => !isKept).map(([, law]) => law);
}

function askedEvictions({ api }: SoakNode): readonly AskedEviction[] {
  return api.writes.flatMap(({ path, atMs }) => {
    const pod = /\/pods\/([^/]+)\/eviction$/.exec(path)?.[1];
    return pod === undefined ? [] : [{ atMs, pod }];
  });
}

function startSampler(memory: GuestMemory): { readonly stop: () => readonly Sample[] } {
  const samples: Sample[] = [];
  const sample = (): void => {
    const unwrittenMiB = memory.unwrittenMiB();
    samples.push({ atMs: performance.now(), ...memory.left(), unwrittenMiB, stalledMs: memory.stalledMs() });
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return samples;
    },
  };
}
