import type { PassResult } from '#shared/decide/eviction/decide.ts';
import { runAlone, runWithAgent } from './episode.ts';
import type { LawNode } from './node.ts';
import type { LawPod, Scenario } from './scenario.ts';
import { judge } from './laws.ts';

/** An episode in words: its pods, what the agent decided and why, and what became of it with and without the agent. */
export async function trace(scenario: Scenario): Promise<string> {
  const lines: string[] = [];
  let before = '';
  const onPass = ({ decision }: PassResult, node: LawNode): void => {
    const gates = decision.assessment.closedGates.map(({ code, text }) => `${code}: ${text}`).join('; ');
    const victims = decision.evictions.map(
      ({ pod, because, graceSeconds, mode }) =>
        `evict ${pod.uid} (${mode}, grace ${graceSeconds} s) because ${because.text}`,
    );
    const now = [...victims, ...(gates === '' ? [] : [`held: ${gates}`])].join('; ');
    if (now !== before && now !== '') lines.push(`${at(node)} agent: ${now}`);
    before = now;
  };
  const node = await runWithAgent(scenario, {
    onPass,
    onEviction: () => undefined,
    onTick: (each) => void lines.push(...each.events.splice(0).map(({ kind, text }) => `${at(each)} ${kind}: ${text}`)),
  });
  const alone = runAlone(scenario);
  const broken = (await judge(scenario)).breaches.map(
    ({ law, cause, atMs, text }) => `BROKEN ${law} (${cause}) at ${atMs} ms: ${text}`,
  );
  return [
    ...describe(scenario),
    'with the agent',
    ...lines,
    outcome(node),
    'with the kubelet alone',
    ...alone.events.map(({ atMs, kind, text }) => `  ${atMs} ms ${kind}: ${text}`),
    outcome(alone),
    ...broken,
  ].join('\n');
}

function at(node: LawNode): string {
  return `  ${node.nowMs} ms (${Math.round(node.availableMiB())}Mi left)`;
}

function outcome({ oomKills, innocents, shortMs }: LawNode): string {
  return `  = ${oomKills} OOM kills, ${innocents} pods inside their requests evicted by the kubelet or killed, ${shortMs} ms short`;
}

function describe({
  seed,
  capacityMiB,
  pods,
  policy,
  kubelet,
  api,
  outsideMiB,
  outsideGrowsMiB,
  isTainted,
}: Scenario): readonly string[] {
  return [
    `seed ${seed}: ${capacityMiB}Mi, ${outsideMiB}Mi (+${outsideGrowsMiB}/s) outside pods${isTainted ? ', tainted' : ''}; kubelet ${JSON.stringify(kubelet)}`,
    `policy ${JSON.stringify(policy)}`,
    ...(api.length === 0 ? [] : [`API ${JSON.stringify(api)}`]),
    ...pods.map((pod) => `pod ${describePod(pod)}`),
  ];
}

function describePod(pod: LawPod): string {
  const {
    name,
    namespace,
    kind,
    priority,
    startMiB,
    requestMiB,
    growsMiB,
    growsFromMs,
    mostMiB,
    graceSeconds,
    shutdownMs,
    hangsMs,
  } = pod;
  const extras = [
    growsMiB > 0 ? `+${growsMiB}/s from ${growsFromMs} ms to ${mostMiB}Mi` : '',
    pod.isGuaranteed ? 'Guaranteed' : '',
    pod.wish === undefined ? '' : `evict: ${pod.wish}`,
    pod.fault ?? '',
    pod.resize === undefined ? '' : `resize to ${pod.resize.requestMiB}Mi ${pod.resize.state}`,
    pod.deletedAtMs === undefined ? '' : `deleted at ${pod.deletedAtMs} ms`,
    pod.isMeasured ? '' : 'not measured',
    pod.comesBack ? 'comes back' : '',
    hangsMs > 0 ? `hangs ${hangsMs} ms` : '',
  ].filter((text) => text !== '');
  return `${namespace}/${name} ${kind} priority ${priority}: ${startMiB} of ${requestMiB}Mi, grace ${graceSeconds} s, ends in ${shutdownMs} ms; ${extras.join(', ')}`;
}
