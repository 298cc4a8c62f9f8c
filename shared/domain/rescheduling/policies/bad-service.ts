import { podName } from '#shared/domain/base/texts.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { ownerText, ownerId, type Pod } from '#shared/domain/pod/pod.ts';
import type { StalledResource } from '#shared/domain/pressure/signal.ts';
import type { Harm, PastMove, ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import type { OwnerGroup } from '#shared/domain/rescheduling/owner-groups.ts';
import { CPU, MEMORY, type PassCluster, type PassNode, podsWith } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { BadServicePolicy } from '#shared/domain/rescheduling/policy.ts';
import type { MovablePod } from '#shared/domain/rescheduling/running-pod.ts';
import { type PlacedPod, TRAITS } from '#shared/domain/snapshot/placed-pod.ts';
import { type CountedBefore, type PodFailure, failureOf } from './failing-pod.ts';
import {
  LONG_AVOID_MS,
  type PolicyInput,
  SHORT_AVOID_MS,
  type MoveCandidate,
  type CandidateGroup,
} from './move-candidate.ts';
import type { KeepAway, PassInput } from '#shared/domain/rescheduling/pass.ts';
import type { KubeletRefusal } from '#shared/domain/snapshot/cluster-snapshot.ts';

/** The gain of a pod that works again, in points. */
export const SERVICE_GAIN = 100;

/** A pod that fails where it runs. */
interface Failing {
  readonly placed: PlacedPod;
  readonly node: PassNode;
  readonly failure: PodFailure;
}

/** A pod that a policy names, and why. */
interface Named extends Pick<MoveCandidate, 'because' | 'held' | 'harmed'> {
  readonly placed: PlacedPod;
  readonly node: PassNode;
}

/** Pods that fail on their nodes, or the pods on those nodes that use more than they request (S3-4, S3-5). */
export function* badServiceCandidates(input: PolicyInput, policy: BadServicePolicy): Steps<readonly CandidateGroup[]> {
  const { cluster, memory } = input;
  const before = policy.move === 'Aggressor' ? countedBefore(memory) : undefined;
  const hasFigures = cluster.measurements.figuresOf !== undefined;
  const mayFail = (node: PassNode) => (hasFigures ? node.entry.occupancy.pods : podsWith(node, TRAITS.hasEnded));
  const failing: Failing[] = [];
  for (const node of cluster.nodes) {
    for (const placed of node.closed === undefined ? mayFail(node) : []) {
      const failure = failureOf(placed, policy, cluster.measurements, before);
      if (failure !== undefined) failing.push({ placed, node, failure });
    }
    yield;
  }
  const named = policy.move === 'Victim' ? failing.map(victim) : aggressorsOf(input, failing);
  const harmful = harmfulNodes(cluster, [...failing, ...named]);
  const candidates = named.flatMap((each) => candidateOf(input, each, harmful));
  return [{ candidates: () => candidates, urgency: () => 1 }];
}

function victim({ placed, node, failure: { fails } }: Failing): Named {
  return { placed, node, because: REASONS.victim({ node: node.name, fails }) };
}

/**
 * The failure count when a pod was moved for another one. Counts never decrease, so without this the neighbours of a
 * pod that once failed would be moved one after the other although it works now.
 */
function countedBefore({ owners }: ReschedulingMemory): CountedBefore {
  const counts = new Map<string, number>();
  const keyOf = ({ uid, kind }: Omit<Harm, 'count'>): string => `${uid} ${kind}`;
  for (const { moves } of owners.values())
    for (const harm of moves.flatMap(({ harmed }) => harmed ?? []))
      counts.set(keyOf(harm), Math.max(harm.count, counts.get(keyOf(harm)) ?? 0));
  return (harm) => counts.get(keyOf(harm)) ?? 0;
}

/** At most one per node with failing pods: after it is gone, another move may not be needed. */
function aggressorsOf(input: PolicyInput, failing: readonly Failing[]): readonly Named[] {
  const movedAt = lastAggressorMoves(input.memory);
  const byNode = Map.groupBy(failing, ({ node }) => node);
  return [...byNode].flatMap(([node, onNode]) => {
    const isSettling = input.cluster.now - (movedAt.get(node.name) ?? -Infinity) < SHORT_AVOID_MS;
    const minutes = SHORT_AVOID_MS / 60_000;
    return isSettling
      ? onNode.map((each) => held(each, REASONS.nodeSettles({ node: node.name, minutes })))
      : aggressorOn(input, onNode);
  });
}

function lastAggressorMoves({ owners }: ReschedulingMemory): ReadonlyMap<string, number> {
  const moves = [...owners.values()].flatMap((owner) => owner.moves).filter(({ harmed }) => harmed !== undefined);
  return new Map(moves.toSorted((a, b) => a.at - b.at).map(({ from, at }: PastMove) => [from, at]));
}

function held({ placed, node, failure: { fails } }: Failing, why: Because): Named {
  return { placed, node, because: REASONS.victim({ node: node.name, fails }), held: why };
}

/** The aggressor of the first failing pod whose aggressor may be moved; if there is none, why each of them stays. */
function aggressorOn(input: PolicyInput, onNode: readonly Failing[]): readonly Named[] {
  const stays: Named[] = [];
  for (const failing of onNode) {
    const found = aggressorFor(input, failing);
    if (found.held === undefined) return [{ ...found, harmed: onNode.map(({ failure }) => harmOf(failure)) }];
    stays.push(found);
  }
  return stays;
}

function harmOf({ uid, kind, count }: PodFailure): Harm {
  return { uid, kind, count };
}

function aggressorFor({ cluster, movable }: PolicyInput, failing: Failing): Named {
  const { node, placed, failure } = failing;
  const { fails, resource } = failure;
  if (hasOwnLimit(placed.pod, failure)) return held(failing, REASONS.ownLimit({ fails }));
  const worst = worstOverage(cluster, node, resource);
  if (worst === undefined) return held(failing, REASONS.noAggressor({ node: node.name, resource, fails }));
  const why = movable(worst.placed, node);
  if (why?.kind === 'stays')
    return held(failing, REASONS.aggressorStays({ pod: podName(worst.placed.pod), fails, why: why.because.text }));
  const other = podName(placed.pod);
  const because = REASONS.aggressor({ node: node.name, resource, fails, other, ...worst.texts }, { other });
  return { placed: worst.placed, node, because };
}

/** A container with a memory limit is most often killed at that limit, regardless of other pods. */
function hasOwnLimit({ spec }: Pod, { kind }: PodFailure): boolean {
  return kind === 'oomKills' && spec.containers.every(({ resources }) => resources.limits?.has('memory') === true);
}

const GIBI = 1024 ** 3;
const TEXTS = {
  cpu: (milli: number) => `${(milli / 1_000).toFixed(2)} cores`,
  memory: (bytes: number) => `${(bytes / GIBI).toFixed(2)}Gi`,
} as const;

/** The pod of a node that exceeds its request by most. Pods without a measurement are never blamed. */
function worstOverage(cluster: PassCluster, node: PassNode, resource: StalledResource) {
  if (resource === 'io') return undefined;
  const column = resource === 'cpu' ? CPU : MEMORY;
  const overages = node.entry.occupancy.pods.map((placed) => {
    const [used, requested] = [useOf(cluster, placed.pod.uid, resource), Number(placed.row[column] ?? 0)];
    return { placed, overage: used - requested, used, requested };
  });
  const [worst] = overages.filter(({ overage }) => overage > 0).toSorted((a, b) => b.overage - a.overage);
  if (worst === undefined) return undefined;
  const [used, requested] = [TEXTS[resource](worst.used), TEXTS[resource](worst.requested)];
  return { placed: worst.placed, texts: { used, requested } };
}

function useOf({ measurements }: PassCluster, uid: string, resource: 'cpu' | 'memory'): number {
  const figures = measurements.figuresOf?.(uid);
  return figures?.[resource] ?? measurements.ofPod(uid)?.[resource] ?? 0;
}

/** By owner. */
type HarmfulNodes = ReadonlyMap<OwnerGroup | undefined, ReadonlySet<string>>;

/** Nodes by owner on which pods of the owner fail or make others fail; the owner avoids them. */
function harmfulNodes(cluster: PassCluster, found: readonly Pick<Named, 'placed' | 'node'>[]): HarmfulNodes {
  const nodes = new Map<OwnerGroup | undefined, Set<string>>();
  for (const { placed, node } of found) {
    const owner = cluster.owners.of(placed.pod);
    nodes.set(owner, (nodes.get(owner) ?? new Set()).add(node.name));
  }
  return nodes;
}

function candidateOf(input: PolicyInput, named: Named, harmful: HarmfulNodes): readonly MoveCandidate[] {
  const movable = input.movable(named.placed, named.node);
  if (movable?.kind !== 'movable') return [];
  const { pod } = movable;
  return [
    {
      policy: 'badService',
      pod,
      because: named.because,
      held: named.held,
      harmed: named.harmed,
      worth: () => SERVICE_GAIN,
      gainOn: () => SERVICE_GAIN,
      leastGain: SERVICE_GAIN,
      reasonAgainst: (target) => whyHarmful(pod, target, harmful),
      avoidForMs: LONG_AVOID_MS,
    },
  ];
}

function whyHarmful({ owner }: MovablePod, target: PassNode, harmful: HarmfulNodes): Because | undefined {
  if (harmful.get(owner)?.has(target.name) !== true) return undefined;
  return REASONS.harmfulNode({ node: target.name, owner: ownerText(owner.key) });
}

/** A refused pod has ended and its controller creates another one, so older refusals say little about the node now. */
const REFUSED_WITHIN_MS = 3_600_000;
const MAX_KEPT_AWAY = 25;

/** Owners whose pods the kubelet of a node has refused too often: kube-scheduler would place the next one there again (S3-4). */
export function ownersToKeepAway({ cluster, policy, avoidedBy }: PassInput): readonly KeepAway[] {
  const limit = policy.badService?.refused ?? Infinity;
  const recent = [...cluster.snapshot.refusals.values()].filter(({ at }) => at > cluster.now - REFUSED_WITHIN_MS);
  const byPlace = Map.groupBy(recent, ({ node, owner }) => `${node} ${ownerId(owner)}`);
  const found = [...byPlace.values()].filter((refusals) => refusals.length >= limit).map(keepAway);
  return found.filter(({ owner, node }) => isOpen(cluster, node) && !isAvoided(owner, node)).slice(0, MAX_KEPT_AWAY);

  function keepAway(refusals: readonly KubeletRefusal[]): KeepAway {
    const { node, owner, reason } = refusals.at(-1) as KubeletRefusal;
    const because = REASONS.refused({ node, count: refusals.length, most: limit, why: reason });
    return { owner, node, forMs: LONG_AVOID_MS, because: { ...because, facts: { owner: ownerText(owner) } } };
  }
  function isAvoided(key: KeepAway['owner'], node: string): boolean {
    return avoidedBy({ id: ownerId(key), key, pods: [] }).has(node);
  }
}

/** kube-scheduler places no pods on a node that is closed. */
function isOpen({ byName }: PassInput['cluster'], node: string): boolean {
  const found = byName.get(node);
  return found !== undefined && found.closed === undefined;
}
