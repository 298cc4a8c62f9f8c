import type { Breach, Law } from './breach.ts';
import { runAlone } from './episode.ts';
import { countOf, isReplacement, KUBELET_PERIOD_MS, type LawNode, type LivePod, MAX_KILLS } from './node.ts';
import type { Scenario } from './scenario.ts';

/** The episode with the agent once more, with the kubelet looking at another second. */
export type Rerun = (scenario: Scenario) => Promise<LawNode>;

/**
 * What is worse with the agent. Episodes that the kernel ends are not compared, nor those in which the agent evicted at
 * the operator's threshold while no pod was above its request, which is what the operator asked for, nor those in which a
 * victim does not end.
 */
export async function compare(
  alone: LawNode,
  node: LawNode,
  { asked, rerun }: { readonly asked: number; readonly rerun: Rerun },
): Promise<readonly Breach[]> {
  const breach = (law: Law, without: number, withAgent: number): Breach => {
    const text = `${without} without the agent, ${withAgent} with it`;
    return { law, cause: circumstances(node), atMs: node.nowMs, text };
  };
  if (node.scenario.policy.mode === 'DryRun') return summary(alone) === summary(node) ? [] : [breach('dryRun', -1, 0)];
  if (asked > 0 || alone.oomKills >= MAX_KILLS || !isWorse(alone, node)) return [];
  // Case C-16 of docs/contributing/shortage-cases.md: nothing keeps the replacement of a victim off the node.
  const isReplaced = !node.scenario.isTainted && node.pods.some(isReplacement);
  if (isReplaced || node.pods.some(outlivesSigkill)) return [];
  // What the agent frees moves the shortage against the kubelet's looks: it is compared with the kubelet at every phase.
  const phases = otherPhases(node.scenario);
  const others = phases.map(runAlone);
  const figures: readonly Figure[] = [
    { law: 'innocents', of: innocentsOf, withAgent: node.innocents, tolerated: 0 },
    { law: 'oom', of: killsOf, withAgent: node.oomKills, tolerated: 0 },
    { law: 'short', of: shortOf, withAgent: node.shortMs, tolerated: KUBELET_PERIOD_MS },
  ];
  const most = ({ of }: Figure): number => Math.max(...[alone, ...others].map(of));
  const found = figures.filter((figure) => figure.withAgent > most(figure) + figure.tolerated);
  if (found.length === 0) return [];
  // Which second the kubelet looks at is luck: its period is ten seconds and what each look takes. Whether it misses a
  // shortage that lasts less is luck, too; so what is worse at one of these seconds has to be worse over all of them.
  const beside = await all(phases, rerun);
  const isWorseOverall = ({ of }: Figure): boolean => sum(beside, of) > sum(others, of);
  return found.filter(isWorseOverall).map((figure) => breach(figure.law, most(figure), figure.withAgent));
}

/** What may be worse with the agent. */
interface Figure {
  readonly law: Law;
  readonly of: (node: LawNode) => number;
  readonly withAgent: number;
  readonly tolerated: number;
}

function sum(nodes: readonly LawNode[], of: Figure['of']): number {
  return nodes.reduce((total, each) => total + of(each), 0);
}

async function all(scenarios: readonly Scenario[], run: Rerun): Promise<readonly LawNode[]> {
  const nodes: LawNode[] = [];
  for (const scenario of scenarios) nodes.push(await run(scenario));
  return nodes;
}

/** Where the kernel kills for ever, it comes to the pods inside their requests too, only later; the node stays short. */
const innocentsOf = ({ innocents, oomKills }: LawNode): number => (oomKills < MAX_KILLS ? innocents : Infinity);
/** That of a pod in spare room harms nobody: it would not be there without lending. */
const killsOf = (node: LawNode): number => node.oomKills - countOf(node, 'kernel', true);
const shortOf = ({ shortMs, oomKills }: LawNode): number => (oomKills < MAX_KILLS ? shortMs : Infinity);

function isWorse(alone: LawNode, node: LawNode): boolean {
  const isMore = (figure: (each: LawNode) => number): boolean => figure(node) > figure(alone);
  return node.innocents > alone.innocents || isMore(killsOf) || isMore(shortOf);
}

/** Whether the agent evicted it and its processes outlive SIGKILL, which frees nothing and which nothing foretells. */
function outlivesSigkill({ spec, acceptedAtMs, deletion }: LivePod): boolean {
  if (acceptedAtMs === undefined || deletion === undefined) return false;
  return spec.hangsMs > 0 && spec.shutdownMs > deletion.graceSeconds * 1000;
}

/** The episode, had the kubelet looked at another second; it has one look more, as the agent ends pods sooner. */
function otherPhases(scenario: Scenario): readonly Scenario[] {
  const lengthMs = scenario.lengthMs + KUBELET_PERIOD_MS;
  return Array.from({ length: KUBELET_PERIOD_MS / 1000 }, (_, second) => ({
    ...scenario,
    lengthMs,
    kubelet: { ...scenario.kubelet, phaseMs: second * 1000 },
  }));
}

/** What makes the agent's node harder than the kubelet's alone; groups the breaches of a comparison. */
function circumstances({ scenario, pods }: LawNode): string {
  if (scenario.api.length > 0) return 'the API server fails';
  if (pods.some(isReplacement)) return 'a replacement lands on the node';
  return 'nothing special';
}

function summary({ events, oomKills, shortMs }: LawNode): string {
  return JSON.stringify([events, oomKills, shortMs]);
}
