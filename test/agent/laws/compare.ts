import type { Breach, Law } from './breach.ts';
import { runAlone } from './episode.ts';
import { isReplacement, KUBELET_PERIOD_MS, type LawNode, type LivePod, MAX_KILLS } from './node.ts';
import type { Scenario } from './scenario.ts';

/**
 * What is worse with the agent. Episodes that the kernel ends are not compared, nor those in which the agent evicted at
 * the operator's threshold while no pod was above its request, which is what the operator asked for, nor those in which a
 * victim does not end.
 */
export function compare(alone: LawNode, node: LawNode, asked: number): readonly Breach[] {
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
  const phases = [alone, ...otherPhases(node.scenario)];
  const most = (figure: (each: LawNode) => number): number => Math.max(...phases.map(figure));
  return [
    ...worse('innocents', most(innocentsOf), node.innocents),
    ...worse('oom', most(killsOf), node.oomKills),
    ...worse('short', most(shortOf), node.shortMs, KUBELET_PERIOD_MS),
  ];
}

/** Where the kernel kills for ever, it comes to the pods inside their requests too, only later. */
const innocentsOf = ({ innocents, oomKills }: LawNode): number => (oomKills < MAX_KILLS ? innocents : Infinity);
const killsOf = ({ oomKills }: LawNode): number => oomKills;
const shortOf = ({ shortMs }: LawNode): number => shortMs;

function isWorse(alone: LawNode, node: LawNode): boolean {
  const isMore = (figure: (each: LawNode) => number): boolean => figure(node) > figure(alone);
  return node.innocents > alone.innocents || isMore(killsOf) || isMore(shortOf);
}

/** Whether the agent evicted it and its processes outlive SIGKILL, which frees nothing and which nothing foretells. */
function outlivesSigkill({ spec, acceptedAtMs, deletion }: LivePod): boolean {
  if (acceptedAtMs === undefined || deletion === undefined) return false;
  return spec.hangsMs > 0 && spec.shutdownMs > deletion.graceSeconds * 1000;
}

/** The kubelet alone, had it looked at another second; it has one look more, as the agent ends pods sooner. */
function otherPhases(scenario: Scenario): readonly LawNode[] {
  const lengthMs = scenario.lengthMs + KUBELET_PERIOD_MS;
  return Array.from({ length: KUBELET_PERIOD_MS / 1000 }, (_, second) =>
    runAlone({ ...scenario, lengthMs, kubelet: { ...scenario.kubelet, phaseMs: second * 1000 } }),
  );
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
