import { describe, expect, test } from 'vitest';
import type { NodeVerdict } from '#shared/domain/preemption/proposal/proposal.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { type RandomSource, randomSource } from '#test/fakes/random-source.ts';
import { RULES } from './review-case.ts';

const SEEDS = 4_000;
const ROOM = { cpu: 8, memory: 16, slots: 6 };
const INCOMING_PRIORITY = 100;

/** A pod by what the model knows of its needs. */
interface SmallPod {
  readonly name: string;
  readonly priority: number;
  readonly cpu: number;
  readonly memory: number;
  readonly hostPort?: number;
  readonly isProtected: boolean;
}

interface SmallNode {
  readonly pods: readonly SmallPod[];
  readonly incoming: SmallPod;
}

function smallPod(name: string, priority: number, random: RandomSource): SmallPod {
  const hostPort = random.chance(0.3) ? 80 + random.below(2) : undefined;
  return {
    name,
    priority,
    cpu: 1 + random.below(4),
    memory: 1 + random.below(8),
    ...(hostPort !== undefined && { hostPort }),
    isProtected: random.chance(0.35),
  };
}

/** All pods fit, and their priorities differ, so that kube-scheduler has one choice. */
function smallNode(seed: number): SmallNode {
  const random = randomSource(seed);
  const priorities = Array.from({ length: 6 }, (_, at) => at * 20 + random.below(20));
  const pods: SmallPod[] = [];
  while (priorities.length > 0) {
    const [priority = 0] = priorities.splice(random.below(priorities.length), 1);
    const pod = smallPod(`p${pods.length}`, priority, random);
    if (isFitting([...pods, pod])) pods.push(pod);
  }
  return { pods, incoming: { ...smallPod('incoming', INCOMING_PRIORITY, random), isProtected: false } };
}

/** Added up without any code of the product. */
function isFitting(pods: readonly SmallPod[]): boolean {
  const sum = (of: (pod: SmallPod) => number): number => pods.reduce((total, pod) => total + of(pod), 0);
  const ports = pods.flatMap(({ hostPort }) => hostPort ?? []);
  const isEnough = sum(({ cpu }) => cpu) <= ROOM.cpu && sum(({ memory }) => memory) <= ROOM.memory;
  return isEnough && pods.length <= ROOM.slots && new Set(ports).size === ports.length;
}

/** The victims of kube-scheduler: all that it may take go, and those come back, the most important first, that leave room. */
function victimsOf({ pods, incoming }: SmallNode, mayTake: (pod: SmallPod) => boolean): readonly string[] | undefined {
  const lower = pods.filter((pod) => pod.priority < incoming.priority && mayTake(pod));
  const staying = [incoming, ...pods.filter((pod) => !lower.includes(pod))];
  if (!isFitting(staying)) return undefined;
  const victims: string[] = [];
  for (const pod of lower.toSorted((a, b) => b.priority - a.priority)) {
    if (isFitting([...staying, pod])) staying.push(pod);
    else victims.push(pod.name);
  }
  return victims;
}

const anyPod = (): boolean => true;
const openPod = ({ isProtected }: SmallPod): boolean => !isProtected;

function built({ name, priority, cpu, memory, hostPort, isProtected }: SmallPod): PodFields {
  const requests = { cpu: String(cpu), memory: `${memory}Gi` };
  const ports = hostPort === undefined ? {} : { hostPorts: [hostPort] };
  return { name, priority, requests, ...ports, ...(isProtected && { labels: { stay: 'yes' } }) };
}

/** What the extender makes of a proposal, if it knows these pods. */
function reviewed(known: SmallNode, proposed: readonly string[]): NodeVerdict | undefined {
  const allocatable = { cpu: String(ROOM.cpu), memory: `${ROOM.memory}Gi`, pods: String(ROOM.slots) };
  const pods = known.pods.map((each) => buildPod({ ...built(each), node: 'n0' }));
  const snapshot = createSnapshot({ nodes: [buildNode({ name: 'n0', allocatable })], pods });
  const uids = proposed.map((name) => `uid-${name}`);
  const proposal = [{ node: 'n0', uids, budgetViolations: 0 }];
  const [verdict] = reviewProposal(snapshot, { pod: buildPod(built(known.incoming)), proposal, now: 0 }, RULES);
  return verdict;
}

function namedIn(verdict: NodeVerdict | undefined): readonly string[] | undefined {
  if (verdict === undefined || verdict.kind === 'removed') return undefined;
  return verdict.victims.uids.map((uid) => uid.replace('uid-', ''));
}

/** Whether the incoming pod fits once these have gone. */
function fitsWithout({ pods, incoming }: SmallNode, gone: (name: string) => boolean): boolean {
  return isFitting([incoming, ...pods.filter(({ name }) => !gone(name))]);
}

const nodes = Array.from({ length: SEEDS }, (_, seed) => smallNode(seed));

/** Nodes for which kube-scheduler would preempt a protected pod. */
const guarded = nodes.flatMap((node) => {
  const proposed = victimsOf(node, anyPod) ?? [];
  const isGuarded = node.pods.some((pod) => pod.isProtected && proposed.includes(pod.name));
  return isGuarded ? [{ node, proposed, verdict: reviewed(node, proposed) }] : [];
});
const swapped = guarded.filter(({ verdict }) => verdict?.kind === 'changed');

describe(`in place of protected victims, on nodes of the seeds 0 to ${SEEDS - 1}`, () => {
  test('others are named as kube-scheduler chooses them where it may not take the protected ones', () => {
    expect(guarded.length).toBeGreaterThan(1_000);
    expect(swapped.length).toBeGreaterThan(100);
    for (const { node, verdict } of guarded) expect(namedIn(verdict)).toEqual(victimsOf(node, openPod));
  });

  test('they are a proof in all that the model knows: the pod fits without them, and needs each to go', () => {
    for (const { node, verdict } of swapped) {
      const named = namedIn(verdict) ?? [];
      expect(node.pods.filter(({ name }) => named.includes(name)).every(openPod)).toBe(true);
      expect(fitsWithout(node, (name) => named.includes(name))).toBe(true);
      for (const needed of named)
        expect(fitsWithout(node, (name) => named.includes(name) && name !== needed)).toBe(false);
    }
  });

  test('a node is taken away only where the pod would not fit without any that may go', () => {
    for (const { node, verdict } of guarded) {
      const open = openOf(node).map(({ name }) => name);
      if (verdict?.kind === 'removed') expect(fitsWithout(node, (name) => open.includes(name))).toBe(false);
    }
  });

  test('to ask for as much as the proposed victims free would keep pods pending that find room', () => {
    const isLost = ({ node, proposed }: (typeof swapped)[number]): boolean =>
      !freesAsMuch(node, openOf(node), proposed);
    expect(swapped.filter(isLost).length).toBeGreaterThan(swapped.length / 3);
  });

  test('they can be in vain beside a pod that only kube-scheduler knows, where they free less', () => {
    const unseen = nodes.flatMap((node) => {
      const [hidden] = node.pods;
      const proposed = victimsOf(node, anyPod) ?? [];
      if (hidden === undefined || hidden.isProtected || proposed.includes(hidden.name)) return [];
      const verdict = reviewed({ ...node, pods: node.pods.slice(1) }, proposed);
      const named = verdict?.kind === 'changed' ? (namedIn(verdict) ?? []) : [];
      return named.length > 0 && !fitsWithout(node, (name) => named.includes(name)) ? [{ node, proposed, named }] : [];
    });
    expect(unseen.length).toBeGreaterThan(10);
    for (const { node, proposed, named } of unseen)
      expect(
        freesAsMuch(
          node,
          node.pods.filter(({ name }) => named.includes(name)),
          proposed,
        ),
      ).toBe(false);
  });
});

/** All that may go for the incoming pod. */
function openOf({ pods, incoming }: SmallNode): readonly SmallPod[] {
  return pods.filter((pod) => openPod(pod) && pod.priority < incoming.priority);
}

/** Whether these free as much of each resource as those. */
function freesAsMuch({ pods }: SmallNode, these: readonly SmallPod[], those: readonly string[]): boolean {
  const others = pods.filter(({ name }) => those.includes(name));
  const sum = (of: readonly SmallPod[], resource: 'cpu' | 'memory'): number =>
    of.reduce((total, pod) => total + pod[resource], 0);
  return (['cpu', 'memory'] as const).every((resource) => sum(these, resource) >= sum(others, resource));
}
