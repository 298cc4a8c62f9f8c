import type { Tamper } from './agent.ts';
import type { Breach } from './breach.ts';
import { judge, type Outcome } from './laws.ts';
import { randomScenario } from './random-scenario.ts';
import type { Scenario } from './scenario.ts';
import { shrink } from './shrink.ts';
import { trace } from './trace.ts';

/** Breaches of one law for one cause; the scenario is that of the first. */
export interface Finding {
  readonly breach: Breach;
  readonly scenario: Scenario;
  readonly seeds: readonly number[];
}

/** What many episodes came to; the totals are of those that the kernel did not end in either run. */
export interface Hunt {
  readonly findings: ReadonlyMap<string, Finding>;
  readonly alone: Totals;
  readonly withAgent: Totals;
}

export interface Totals {
  readonly oomKills: number;
  readonly innocents: number;
  readonly shortMs: number;
}

const NOTHING: Totals = { oomKills: 0, innocents: 0, shortMs: 0 };

/** Changes an episode, so that what is looked for is frequent. */
export type Focus = (scenario: Scenario) => Scenario;

/** The same episode in slow motion: what leaks does so at a share of its speed, for longer. */
export function slowed(growth: number, seconds: number): Focus {
  return (scenario) => ({
    ...scenario,
    lengthMs: seconds * 1000,
    outsideGrowsMiB: scenario.outsideGrowsMiB * growth,
    pods: scenario.pods.map((pod) => ({ ...pod, growsMiB: pod.growsMiB * growth })),
  });
}

interface HuntOptions {
  readonly focus?: Focus | undefined;
  readonly tamper?: Tamper | undefined;
}

function itself(scenario: Scenario): Scenario {
  return scenario;
}

/** Runs the episodes of consecutive seeds and groups what they broke by law and cause. */
export async function hunt(firstSeed: number, count: number, { focus, tamper }: HuntOptions = {}): Promise<Hunt> {
  const findings = new Map<string, Finding>();
  let [alone, withAgent] = [NOTHING, NOTHING];
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const scenario = (focus ?? itself)(randomScenario(seed));
    const outcome = await judge(scenario, tamper);
    for (const breach of outcome.breaches) note(findings, scenario, breach);
    alone = add(alone, outcome.alone);
    withAgent = add(withAgent, outcome.node);
  }
  return { findings, alone, withAgent };
}

function note(findings: Map<string, Finding>, scenario: Scenario, breach: Breach): void {
  const key = keyOf(breach);
  const { seeds = [], ...first } = findings.get(key) ?? { breach, scenario };
  findings.set(key, { ...first, seeds: [...seeds, scenario.seed] });
}

/** By which breaches are grouped. */
function keyOf({ law, cause }: Breach): string {
  return `${law}: ${cause}`;
}

function add(totals: Totals, node: Outcome['node']): Totals {
  return {
    oomKills: totals.oomKills + node.oomKills,
    innocents: totals.innocents + node.innocents,
    shortMs: totals.shortMs + node.shortMs,
  };
}

/** The smallest episode that shows a finding, in words. */
export async function describeFinding({ breach, scenario, seeds }: Finding): Promise<string> {
  const title = `${seeds.length} x ${keyOf(breach)} (seeds ${seeds.slice(0, 5).join(' ')})`;
  return `${title}\n${await trace(await shrink(scenario, breach))}`;
}
