import type { Breach, Law } from './breach.ts';
import { runAlone } from './episode.ts';
import { isReplacement, KUBELET_PERIOD_MS, type LawNode, type LivePod, MAX_KILLS } from './node.ts';
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
  const worse = (law: Law, without: number, withAgent: number, tolerated = 0): readonly Breach[] =>
    withAgent <= without + tolerated
      ? []
      : [
          {
            law,
            cause: circumstances(node),
            atMs: node.nowMs,
            text: `${without} without the agent, ${withAgent} with it`,
          },
        ];
  if (node.scenario.policy.mode === 'DryRun') return worse('dryRun', summary(alone) === summary(node) ? 0 : -1, 0);
  if (asked > 0 || alone.oomKills >= MAX_KILLS || !isWorse(alone, node)) return [];
  // Case C-16 of docs/contributing/shortage-cases.md: nothing keeps the replacement of a victim off the node.
  const isReplaced = !node.scenario.isTainted && node.pods.some(isReplacement);
  if (isReplaced || node.pods.some(outlivesSigkill)) return [];
  // What the agent frees moves the shortage against the kubelet's looks: it is compared with the kubelet at every phase.
  const phases = otherPhases(node.scenario);
  const others = phases.map(runAlone);
  const most = (figure: (each: LawNode) => number): number => Math.max(...[alone, ...others].map(figure));
  const found = [
    ...worse('innocents', most(innocentsOf), node.innocents),
    ...worse('oom', most(killsOf), node.oomKills),
    ...worse('short', most(shortOf), node.shortMs, KUBELET_PERIOD_MS),
  ];
  return found.length === 0 ? [] : found.filter(isWorseOverall(others, await all(phases, rerun)));
}

/**
 * Which second the kubelet looks at is luck: its period is ten seconds and what each look takes. Whether it misses a
 * shortage that lasts less is luck, too; so what is worse at one of these seconds has to be worse over all of them.
 */
function isWorseOverall(alone: readonly LawNode[], beside: readonly LawNode[]): (breach: Breach) => boolean {
  const sum = (nodes: readonly LawNode[], figure: (each: LawNode) => number): number =>
    nodes.reduce((total, each) => total + figure(each), 0);
  const figures: Partial<Record<Law, (each: LawNode) => number>> = {
    innocents: innocentsOf,
    oom: killsOf,
    short: shortOf,
  };
  return ({ law }) => {
    const figure = figures[law];
    return figure === undefined || sum(beside, figure) > sum(alone, figure);
  };
}

async function all(scenarios: readonly Scenario[], run: Rerun): Promise<readonly LawNode[]> {
  const nodes: LawNode[] = [];
  for (const scenario of scenarios) nodes.push(await run(scenario));
  return nodes;
}

/** Where the kernel kills for ever, it comes to the pods inside their requests too, only later; the node stays short. */
const innocentsOf = ({ innocents, oomKills }: LawNode): number => (oomKills < MAX_KILLS ? innocents : Infinity);
const killsOf = ({ oomKills }: LawNode): number => oomKills;
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
