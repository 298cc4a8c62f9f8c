import { describe, expect, test } from 'vitest';
import { explainRanking } from '#shared/domain/ranking/explain-ranking.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { NO_EVICTIONS } from '#shared/decide/eviction/history/eviction-state.ts';
import { causeQuery, eligiblePods, planEvictions } from '#shared/decide/eviction/plan-evictions.ts';
import { ineligibility, orderFor, rankNode } from '#shared/decide/eviction/ranking/rank-node.ts';
import { heldCause } from '#shared/decide/eviction/ranking/held-cause.ts';
import { heldPodIn, safeWithinRequest } from '#shared/decide/eviction/ranking/safe-within-request.ts';
import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { evictionOrder, type NodeScene } from '#shared/decide/simulation/eviction-order.ts';
import { FuzzedNode } from '#test/shared/decide/eviction/fuzzed-node.ts';
import { because, MIB } from '#test/agent/node-scene.ts';
import { randomSource } from '#test/fakes/random-source.ts';

/** What a snapshot file says of the node that the agent sees; a figure of CPU alone is none of memory. */
function sceneOf({ pods, namespaces, usage, avoided, now }: NodeSnapshot): NodeScene {
  return {
    pods: pods.running.map(({ pod }) => pod),
    namespaces: Array.from(namespaces, ([name, state]): Namespace => {
      return { name, labels: new Map(state === 'ignored' ? [['plimsoll.dev/ignore', 'true']] : []) };
    }),
    usage: new Map([...usage].filter(([, { memory }]) => memory !== undefined)),
    avoided,
    now,
  };
}

const signal = 'memory.available';
const GAPS = [1, 100 * MIB, 400 * MIB];

/** What the agent makes of the node without any eviction before. */
function agentsAnswer(stage: 'mild' | 'severe', gap: number, snapshot: NodeSnapshot, policy: AgentPolicy) {
  const context = { signal, stage, evictions: NO_EVICTIONS.Enforce } as const;
  const order = orderFor(context, policy);
  const reasonAgainst = ineligibility(context, snapshot, policy);
  const ranked = rankNode(context, snapshot, policy);
  const isSafe = safeWithinRequest({ ranked, reasonAgainst, context, snapshot, policy });
  const [threshold] = policy.thresholds;
  if (threshold === undefined) throw new Error('the policy has no threshold');
  const trigger = { ...context, mode: 'Enforce', threshold, observed: undefined, gap, isPresent: true } as const;
  const met = { ...trigger, because: because('Met') };
  const input = { state: FIRST_STATE, snapshot, policy };
  const plan = planEvictions(met, input);
  const inStead = heldCause(causeQuery({ ranked, reasonAgainst, context, snapshot, policy }, met, input));
  return {
    eligible: explainRanking(eligiblePods(context, met, input), order, Infinity),
    ineligible: ranked.flatMap((candidate) => {
      const safe = isSafe(candidate) ?? inStead(candidate);
      const reason = reasonAgainst(candidate) ?? (heldPodIn(safe) === undefined ? undefined : safe);
      return reason === undefined ? [] : [[candidate.facts.pod.uid, reason.code]];
    }),
    victims: plan.evictions.map(({ pod }) => pod.uid),
  };
}

const SEED = Number(process.env['SEED'] ?? 1);

describe('evictionOrder', () => {
  test('ranks, spares and chooses as the agent itself, on random nodes', () => {
    const random = randomSource(SEED).next;
    const seen = { victims: 0, eligible: 0, codes: new Set<unknown>() };
    for (let round = 0; round < 600; round++) {
      const node = new FuzzedNode(random);
      const snapshot = { ...node.snapshot(), closedGates: [], doubts: new Map() };
      const stage = random() < 0.5 ? 'mild' : 'severe';
      const gap = GAPS[round % GAPS.length] ?? 1;
      const own = evictionOrder({ signal, stage, gap }, sceneOf(snapshot), node.policy);
      const agents = agentsAnswer(stage, gap, snapshot, node.policy);
      expect(
        {
          eligible: own.eligible,
          ineligible: own.ineligible.map(({ candidate, because: { code } }) => [candidate.facts.pod.uid, code]),
          victims: own.victims.map(({ facts }) => facts.pod.uid),
        },
        `seed ${SEED}, round ${round}`,
      ).toEqual(agents);
      seen.victims += agents.victims.length;
      seen.eligible += agents.eligible.length;
      for (const [, code] of agents.ineligible) seen.codes.add(code);
    }
    expect(seen.victims).toBeGreaterThan(100);
    expect(seen.eligible).toBeGreaterThan(400);
    expect([...seen.codes].toSorted()).toEqual([
      'AboveRequestHeld',
      'CauseHeld',
      'NamespaceLimit',
      'NamespaceUnknown',
      'NoStatistics',
      'ProtectedMirrorPod',
      'ProtectedNamespace',
      'ProtectedOptOut',
      'ProtectedPriority',
      'ProtectedWithinRequest',
    ]);
  });
});
