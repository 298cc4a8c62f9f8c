import { randomSource } from '#test/fakes/random-source.ts';
import type { Tamper } from './agent.ts';
import { runWithAgent, UNWATCHED } from './episode.ts';
import { slowed } from './hunt.ts';
import { judge } from './laws.ts';
import { countOf, type LawNode } from './node.ts';
import { randomScenario } from './random-scenario.ts';
import type { LawPod, Scenario } from './scenario.ts';

/** When the episode begins, memory lasts for so long above the thresholds. */
const SECONDS_OF_ROOM = 20;

/** What happened to pods that had requested what they used, or to any pod that is not in spare room. */
export interface Harm {
  /** Pods inside their requests that the kubelet evicted or the kernel killed. */
  readonly innocents: number;
  /** Pods outside spare room that the kernel killed. */
  readonly kills: number;
  /** Pods outside spare room that the agent asked to go. */
  readonly asked: number;
  readonly shortMs: number;
}

/** The same node without and with pods in the room that the others do not use; all figures are sums of episodes. */
export interface Lending {
  readonly free: Harm;
  readonly lent: Harm;
  /** With the kubelet alone beside the pods in spare room. */
  readonly withoutAgent: Harm;
  /** Pods in spare room that the agent asked to go. */
  readonly takenBack: number;
  /**
   * Laws of a node that were broken beside pods in spare room, each as `LAW: CAUSE (SEED)`. Where budgets keep such pods, the
   * next one goes in their stead, as docs/guides/spare-pods.md says.
   */
  readonly breaches: readonly string[];
}

const NONE: Harm = { innocents: 0, kills: 0, asked: 0, shortMs: 0 };

/** The room is as large as what the pods in it use, and they came while there was more than the next seconds take. */
function lend(scenario: Scenario, hasBudgets: boolean): { readonly free: Scenario; readonly lent: Scenario } {
  const random = randomSource(scenario.seed + 7);
  const count = 1 + random.below(4);
  const spare = Array.from({ length: count }, (_, index): LawPod => {
    const startMiB = Math.round((scenario.capacityMiB * (0.05 + 0.25 * random.next())) / count);
    const grows = random.chance(0.2);
    return {
      name: `spare${index}`,
      namespace: random.chance(0.5) ? 'a' : 'b',
      priority: random.chance(0.7) ? -10 : 1000,
      requestMiB: 0,
      isGuaranteed: false,
      isInSpareRoom: true,
      kind: 'ReplicaSet',
      wish: random.chance(0.2) ? 'never' : undefined,
      graceSeconds: random.chance(0.5) ? 30 : 2,
      startMiB,
      growsMiB: grows ? 20 : 0,
      growsFromMs: 0,
      mostMiB: grows ? startMiB + 200 : startMiB,
      shutdownMs: random.chance(0.7) ? 500 : Infinity,
      hangsMs: 0,
      isMeasured: true,
      fault: random.chance(0.1) && hasBudgets ? 'budget' : undefined,
      resize: undefined,
      deletedAtMs: undefined,
      comesBack: random.chance(0.3),
    };
  });
  const room = spare.reduce((sum, { startMiB }) => sum + startMiB, 0);
  const rate = scenario.pods.reduce((sum, { growsMiB }) => sum + growsMiB, scenario.outsideGrowsMiB);
  const free = { ...scenario, capacityMiB: Math.round(scenario.capacityMiB + room + rate * SECONDS_OF_ROOM) };
  return { free, lent: { ...free, pods: [...free.pods, ...spare] } };
}

/** An operator who lends lets what was lent be taken back; the scheduler keeps replacements off a node that is short. */
function asConfigured(scenario: Scenario): Scenario {
  const limits = { concurrent: 1, perMinute: 20, perTenMinutes: 40, perNamespace: 40 };
  const policy = { ...scenario.policy, ...limits, mode: 'Enforce', optOut: 'WithinRequest' } as const;
  return { ...scenario, policy, api: [], isTainted: true };
}

function harmOf(node: LawNode): Harm {
  const { innocents, shortMs } = node;
  return { innocents, kills: countOf(node, 'kernel'), asked: countOf(node, 'asked'), shortMs };
}

function add(left: Harm, right: Harm): Harm {
  return {
    innocents: left.innocents + right.innocents,
    kills: left.kills + right.kills,
    asked: left.asked + right.asked,
    shortMs: left.shortMs + right.shortMs,
  };
}

export interface LendingOptions {
  readonly growth: number;
  readonly seconds: number;
  readonly tamper?: Tamper;
  /** Whether a budget keeps one in ten pods in spare room, so that the node is short until the kubelet removes it. */
  readonly hasBudgets?: boolean;
}

/** Runs the episodes of consecutive seeds; nothing fails but the pods. */
export async function lendRoom(
  firstSeed: number,
  count: number,
  { growth, seconds, tamper, hasBudgets = true }: LendingOptions,
): Promise<Lending> {
  let sums: Lending = { free: NONE, lent: NONE, withoutAgent: NONE, takenBack: 0, breaches: [] };
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const { free, lent } = lend(asConfigured(slowed(growth, seconds)(randomScenario(seed))), hasBudgets);
    const { alone, node, breaches } = await judge(lent, tamper);
    const broken = breaches.filter(({ law }) => !hasBudgets || law !== 'stead');
    sums = {
      free: add(sums.free, harmOf(await runWithAgent(free, UNWATCHED, tamper))),
      lent: add(sums.lent, harmOf(node)),
      withoutAgent: add(sums.withoutAgent, harmOf(alone)),
      takenBack: sums.takenBack + countOf(node, 'asked', true),
      breaches: [...sums.breaches, ...broken.map(({ law, cause }) => `${law}: ${cause} (${seed})`)],
    };
  }
  return sums;
}
