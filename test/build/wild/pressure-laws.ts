import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { type Quantity, ZERO } from '#shared/domain/quantity/quantity.ts';
import { answerPressure, type PressureAnswer } from '#shared/decide/simulation/pressure-model.ts';
import { readNamedPolicy } from '#shared/api/node-pressure-policy/select-policy.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { isMirror, protectedFault, specOf } from './eviction-laws.ts';
import { firstDifference } from './queue-laws.ts';
import { shuffledCluster, type WildCluster } from './wild-cluster.ts';
import { modelOf } from './wild-model.ts';

/** What an agent would evict under pressure that it never may, by `plimsoll simulate pressure`. */
export function pressureFaults(cluster: WildCluster, seed: number): readonly string[] {
  const other = shuffledCluster(cluster, seed);
  return cluster.nodes.flatMap(({ metadata: { name = '' } }) => {
    const answer = answerFor(cluster, name, seed);
    const [text, shuffled] = [answer, answerFor(other, name, seed)].map(textOf);
    return [
      ...victimFaults(cluster, answer),
      ...(text === shuffled ? [] : [`another order: ${firstDifference(text ?? '', shuffled ?? '')}`]),
    ];
  });
}

const ENFORCING = readNamedPolicy({
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'NodePressurePolicy',
  metadata: { name: 'all' },
  spec: { mode: 'Enforce', evictionHard: { 'memory.available': '250Mi' }, limits: { concurrent: 3, perMinute: 5 } },
});

function answerFor(cluster: WildCluster, node: string, seed: number): PressureAnswer {
  const random = randomSource(seed);
  const model = { ...modelOf(cluster), ...(random.chance(0.7) && { policies: [ENFORCING] }) };
  const found = model.nodes.find(({ name }) => name === node);
  if (found === undefined) throw new Error(`no node ${node}`);
  const available = amount(random.pick(['0', '50Mi', '200Mi', '240Mi', '3Gi']));
  const named = new Map(
    cluster.pods.flatMap(({ metadata }) =>
      usageOf(`${seed} ${metadata.uid}`).map((used) => [`${metadata.namespace}/${metadata.name}`, used] as const),
    ),
  );
  const signal = random.pick(['memory.available', 'memory.available', 'pid.available'] as const);
  return answerPressure(model, { node: found, nodeMemory: amount('8Gi'), signal, available, named, now: cluster.now });
}

/** By name, so that it is the same in any order; some pods have none. */
function usageOf(key: string): readonly number[] {
  const seed = Array.from(key).reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), 7);
  const random = randomSource(seed);
  return random.chance(0.15) ? [] : [random.pick([0, 1, 100, 600, 2_000, 30_000]) * 1024 * 1024];
}

function amount(text: string): Quantity {
  const parsed = parseQuantity(text);
  return parsed.ok ? parsed.quantity : ZERO;
}

function victimFaults(cluster: WildCluster, { order }: PressureAnswer): readonly string[] {
  const pods = new Map(cluster.pods.map((pod) => [pod.metadata.uid ?? '', pod]));
  const going = new Set(order.victims.map(({ uid }) => uid));
  const candidates = [...order.eligible, ...order.ineligible].map(({ candidate }) => candidate);
  const holders = candidates.filter(({ facts: { pod }, exceedsRequest }) => {
    return exceedsRequest && !going.has(pod.uid) && !isUntouchable(pods.get(pod.uid));
  });
  const inside = new Set(
    candidates.flatMap(({ facts, exceedsRequest, usage }) =>
      exceedsRequest || usage === undefined ? [] : [facts.pod.uid],
    ),
  );
  const held = holders.map(({ facts }) => facts.pod.uid).join();
  return [...going].flatMap((uid) => {
    const raw = pods.get(uid);
    if (raw === undefined) return [`evicts ${uid}, which is not there`];
    return [
      ...protectedFault(raw),
      ...(raw.metadata.namespace === 'ignored' ? [`evicts ${uid} of an ignored namespace`] : []),
      ...(inside.has(uid) && holders.length > 0 ? [`evicts ${uid} inside its request for ${held}`] : []),
    ];
  });
}

/** The kubelet never evicts it either, so that it holds what it has in any case. */
function isUntouchable(pod: KubeObject | undefined): boolean {
  return pod === undefined || isMirror(pod) || Number(specOf(pod)['priority'] ?? 0) >= 2_000_000_000;
}

function textOf({ order, met }: PressureAnswer): string {
  return [
    met?.stage ?? 'none',
    order.eligible.map(({ candidate }) => candidate.facts.pod.uid).join(),
    order.victims.map(({ uid }) => uid).join(),
    order.ineligible.map(({ candidate, because }) => `${candidate.facts.pod.uid} ${because.text}`).join('\n'),
  ].join('\n');
}
