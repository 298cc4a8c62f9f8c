import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { planRound, type Placement } from '#sandbox/scheduler/plan-round.ts';
import { readSeed, seedNode, seedPod, sortedFields, type Given, type SeedPod } from './seed-cluster.ts';

/** What is true at one moment of a worked example. */
interface Moment {
  readonly at?: number;
  readonly step?: number;
  readonly terminating?: readonly string[];
  readonly nominated?: Readonly<Record<string, string>>;
  readonly bound?: Readonly<Record<string, string>>;
  readonly pending?: readonly string[];
  readonly free?: Readonly<Record<string, number>>;
  readonly nominationCleared?: readonly string[];
  readonly newVictims?: readonly string[];
  readonly because?: string;
}

interface Preemption {
  readonly victim: string;
  readonly preemptor: string;
}

/** Scheduling passes as the cluster lives them: victims end later, nominations hold their place, lower ones lose theirs. */
class Cluster {
  readonly nodes: Given['nodes'];
  readonly sizes: ReadonlyMap<string, number>;
  running: Pod[];
  waiting: Pod[];
  bound: Record<string, string> = {};
  preemptions: Preemption[] = [];
  cleared: string[] = [];
  newVictims: string[] = [];

  constructor({ nodes, running, queue = [], arrives }: Given) {
    this.nodes = nodes;
    this.running = running.map(seedPod);
    this.waiting = queue.map(seedPod);
    const all: readonly SeedPod[] = [...running, ...queue, ...(arrives === undefined ? [] : [arrives.pod])];
    this.sizes = new Map(all.map(({ name, request = 0 }) => [name, request]));
  }

  end(name: string): void {
    this.running = this.running.filter((pod) => pod.name !== name);
  }

  async pass(): Promise<void> {
    this.cleared = [];
    this.newVictims = [];
    const nominated = this.waiting.filter((pod) => pod.status.nominatedNodeName !== undefined);
    const cluster = { nodes: this.nodes.map(seedNode), pods: [...this.running, ...nominated] };
    const round = planRound(cluster, this.waiting, (_pod, candidates) => Promise.resolve(candidates));
    for await (const placement of round) this.carryOut(placement);
  }

  carryOut(placement: Placement): void {
    if (placement.kind === 'bind') this.bind(placement.pod, placement.node);
    if (placement.kind === 'preempt') this.preempt(placement.pod, placement.node, placement.victims);
  }

  bind(pod: Pod, node: string): void {
    this.waiting = this.waiting.filter(({ name }) => name !== pod.name);
    const status = { ...pod.status, nominatedNodeName: undefined };
    this.running = [...this.running, { ...pod, status, spec: { ...pod.spec, nodeName: node } }];
    this.bound = { ...this.bound, [pod.name]: node };
  }

  preempt(pod: Pod, node: string, victims: readonly Pod[]): void {
    this.newVictims = victims.filter(({ deletion }) => deletion === undefined).map(({ name }) => name);
    this.preemptions.push(...this.newVictims.map((victim) => ({ victim, preemptor: pod.name })));
    this.running = this.running.map((each) => (this.newVictims.includes(each.name) ? terminating(each) : each));
    const isOutranked = (each: Pod): boolean =>
      each.status.nominatedNodeName === node && (each.spec.priority ?? 0) < (pod.spec.priority ?? 0);
    this.cleared = this.waiting.filter(isOutranked).map(({ name }) => name);
    this.waiting = this.waiting.map((each) => {
      if (each.name === pod.name) return nominate(each, node);
      return isOutranked(each) ? nominate(each, undefined) : each;
    });
  }

  moment(): Required<Omit<Moment, 'at' | 'step' | 'because'>> {
    const nominations = this.waiting.flatMap(({ name, status }) =>
      status.nominatedNodeName === undefined ? [] : [[name, status.nominatedNodeName] as const],
    );
    return {
      terminating: this.running.filter(({ deletion }) => deletion !== undefined).map(({ name }) => name),
      nominated: Object.fromEntries(nominations),
      bound: this.bound,
      pending: this.waiting.map(({ name }) => name).sort(),
      free: Object.fromEntries(this.nodes.map(({ name, capacity = 0 }) => [name, capacity - this.used(name)])),
      nominationCleared: this.cleared,
      newVictims: this.newVictims,
    };
  }

  used(node: string): number {
    const here = this.running.filter(({ spec }) => spec.nodeName === node);
    return here.reduce((sum, { name }) => sum + (this.sizes.get(name) ?? 0), 0);
  }
}

function terminating(pod: Pod): Pod {
  const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];
  return { ...pod, deletion: { at: 0, gracePeriodSeconds: 30 }, status: { ...pod.status, conditions } };
}

function nominate(pod: Pod, nominatedNodeName: string | undefined): Pod {
  return { ...pod, status: { ...pod.status, nominatedNodeName } };
}

async function play(id: string, changes: readonly ((cluster: Cluster) => void)[]) {
  const seed = readSeed<readonly Moment[]>(id);
  const cluster = new Cluster(seed.given);
  const moments: ReturnType<Cluster['moment']>[] = [];
  for (const change of changes) {
    change(cluster);
    await cluster.pass();
    moments.push(cluster.moment());
  }
  return { cluster, moments, seed };
}

const FIELDS = ['terminating', 'nominated', 'bound', 'pending', 'nominationCleared', 'newVictims'];

/** What an example says of a moment must hold exactly; of the free room it names only the nodes that matter. */
function expectMoments(moments: readonly Moment[], then: readonly Moment[]): void {
  const seen = moments.map((moment, index) =>
    sortedFields(
      moment,
      FIELDS.filter((field) => field in (then[index] ?? {})),
    ),
  );
  expect(seen).toEqual(then.map((moment) => sortedFields(moment, FIELDS)));
  expect(moments.map(({ free }) => free)).toMatchObject(then.map(({ free = {} }) => free));
}

const nothing = (): void => undefined;
const ends =
  (...names: string[]) =>
  (cluster: Cluster): void =>
    names.forEach((name) => cluster.end(name));

describe('s0-29: nominations while victims are ending', () => {
  test('1: the room of the ending victims is kept for the one who preempted them', async () => {
    const { moments, seed } = await play('s0-29-1', [nothing, ends('B'), ends('A')]);
    expectMoments(moments, seed.then);
  });

  test('2: another node frees first, and the record still says for whom the victims went', async () => {
    const { cluster, moments, seed } = await play('s0-29-2', [nothing, ends('E'), ends('B'), ends('A')]);
    expectMoments(moments, seed.then);
    expect(cluster.preemptions).toEqual([
      { victim: 'A', preemptor: 'C' },
      { victim: 'B', preemptor: 'C' },
    ]);
  });

  test('3: a small lower pod goes where the higher one is not counted', async () => {
    const { moments, seed } = await play('s0-29-3', [nothing]);
    expectMoments(moments, seed.then);
  });

  test('4: a higher pod takes over the nomination without new victims', async () => {
    const { given } = readSeed('s0-29-4');
    const arrives = (cluster: Cluster): void => {
      if (given.arrives !== undefined) cluster.waiting.push(seedPod(given.arrives.pod));
    };
    const { moments, seed } = await play('s0-29-4', [nothing, arrives, ends('A', 'B')]);
    expectMoments(moments, seed.then);
  });
});

test('s1-9: a pod that never preempts waits for room, and may be taken itself', async () => {
  const { given } = readSeed('s1-9');
  const cluster = new Cluster(given);
  await cluster.pass();
  expect(cluster.newVictims).toEqual([]);
  cluster.end('low');
  await cluster.pass();
  expect(cluster.moment()).toMatchObject({ bound: { science: 'node-1' }, pending: ['other'] });
  cluster.waiting.push(seedPod({ name: 'top', priority: 2_000_000, request: 10 }));
  await cluster.pass();
  expect(cluster.newVictims).toEqual(['science']);
});
