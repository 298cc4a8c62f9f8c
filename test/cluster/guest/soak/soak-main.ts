/**
 * Runs in a guest, alone there: seeded episodes one after another with the agent as it is shipped, in rounds of seven.
 * Each round has an agent of its own, as the limits that hold without a policy let four pods go in ten minutes.
 * PLIMSOLL_SOAK_EPISODES and PLIMSOLL_SOAK_SEED in the environment. Prints what happened, as JSON.
 */
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import { warmCompileCache } from '#test/agent/agent-process.ts';
import { type RandomSource, randomSource } from '#test/fakes/random-source.ts';
import { openGuestMemory } from '#test/cluster/guest/memory/guest-memory.ts';
import { EPISODE_KINDS } from './soak-episodes.ts';
import { type EpisodeOutcome, type RoundOptions, runRound } from './soak-round.ts';

/** What a soak came to. */
export interface SoakReport {
  readonly seed: number;
  readonly minutes: number;
  readonly outcomes: readonly EpisodeOutcome[];
  /** Page cache with an agent that goes by the kubelet's figure: breaks a law, so that the laws are no matter of course. */
  readonly control: readonly EpisodeOutcome[];
}

const COSTLY_PER_ROUND = 4;
const HARMLESS_PER_ROUND = 3;
const BY_KUBELET = { mode: 'Enforce', memoryFigure: 'Kubelet', evictionHard: { 'memory.available': '250Mi' } };
const count = Number(process.env['PLIMSOLL_SOAK_EPISODES']);
const seed = Number(process.env['PLIMSOLL_SOAK_SEED']);
const random = randomSource(seed);
const memory = openGuestMemory();

/** Deals from a shuffled pack, so that each kind comes equally often. */
function dealer(names: readonly string[], source: RandomSource): () => string {
  let left: string[] = [];
  return () => {
    if (left.length === 0) left = [...names];
    const [name = ''] = left.splice(source.below(left.length), 1);
    return name;
  };
}

function namesOf(isCostly: boolean): readonly string[] {
  return Object.keys(EPISODE_KINDS).filter((name) => EPISODE_KINDS[name]?.isCostly === isCostly);
}

const costly = dealer(namesOf(true), random);
const harmless = dealer(namesOf(false), random);

/** The limits let two pods go in a minute, so that what costs none stands between. */
function kindsOfRound(): readonly string[] {
  const first = Array.from({ length: HARMLESS_PER_ROUND }, () => [costly(), harmless()]);
  return [...first.flat(), ...Array.from({ length: COSTLY_PER_ROUND - HARMLESS_PER_ROUND }, costly)];
}

async function round(options: Omit<RoundOptions, 'memory'>): Promise<readonly EpisodeOutcome[]> {
  const outcomes = await runRound({ memory, ...options });
  for (const outcome of outcomes) console.error(JSON.stringify(outcome));
  return outcomes;
}

await warmCompileCache();
const control = await round({ seed, kinds: ['page cache'], policy: BY_KUBELET, warmUpMs: 0 });
const startedAtMs = performance.now();
const outcomes: EpisodeOutcome[] = [];
while (outcomes.length < count) {
  const kinds = kindsOfRound().slice(0, count - outcomes.length);
  outcomes.push(...(await round({ seed: seed + outcomes.length, kinds })));
}
const minutes = Math.round((performance.now() - startedAtMs) / MINUTE_MS);
const report: SoakReport = { seed, minutes, outcomes, control };
console.log(JSON.stringify(report));
