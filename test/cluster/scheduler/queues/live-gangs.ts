import { systemClock } from '#shared/runtime/clock.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { letTimePass } from '#test/build/waiting.ts';
import { makeFakeNode } from '#test/cluster/support/fake-nodes.ts';
import { at } from '#test/contract/harness.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { type ArrivalSettings, drawArrivals, type Work } from '#test/scheduler/queues/gang-throughput/arrivals.ts';
import { GangLoad, type GangLoadPorts } from './gang-load.ts';
import { podOf, pods, type queueScene } from './queue-scene.ts';

/** Of each fake node. */
const CPU_PER_NODE = 8;
const NODE_AWAY_MS = 10_000;

export interface LiveGangs
  extends Omit<ArrivalSettings, 'cpuPerNode'>, Pick<GangLoadPorts, 'namespace' | 'createPod' | 'leaderlessMs'> {
  readonly own: OwnCluster;
  readonly seed: number;
  /** Of the leader and of kube-scheduler, in turn, while work arrives; and how many nodes go and come. */
  readonly kills: number;
  readonly nodesLost: number;
  readonly replaceLeader: () => Promise<void>;
  readonly withinMs: number;
}

/** Gangs and single pods come, run and end on fake nodes `node-0` and on, while processes are killed and nodes lost. */
export async function liveGangs({ own, seed, withinMs, ...settings }: LiveGangs) {
  const load = new GangLoad({ ...settings, admin: own.admin, cpuPerNode: CPU_PER_NODE });
  const arrivals = drawArrivals(seed, { ...settings, cpuPerNode: CPU_PER_NODE });
  await load.begin();
  const began = systemClock.now();
  const faults = new Faults({ ...settings, own, seed, load });
  let left: readonly Work[] = arrivals;
  while ((left.length > 0 || load.unfinished.length > 0) && systemClock.now() - began < withinMs) {
    const second = (systemClock.now() - began) / 1_000;
    for (const work of left.filter(({ at }) => at <= second)) load.arrive(work);
    left = left.filter(({ at }) => at > second);
    faults.begin(second);
    await load.turn();
  }
  await faults.settled();
  await load.end();
  const gangs = arrivals.filter(({ isGang }) => isGang).length;
  const { longestPart, overNominated, unfinished } = load;
  const seconds = (systemClock.now() - began) / 1_000;
  return {
    gangs,
    singles: arrivals.length - gangs,
    longestPart,
    overNominated: [...overNominated],
    unfinished,
    seconds,
  };
}

type FaultSettings = Pick<LiveGangs, 'own' | 'seed' | 'seconds' | 'nodes' | 'kills' | 'nodesLost' | 'replaceLeader'> & {
  readonly load: Pick<GangLoad, 'loseNode'>;
};

/** One after the other, evenly over the time in which work arrives. */
class Faults {
  readonly #settings: FaultSettings;
  readonly #due: { readonly at: number; readonly act: () => Promise<void> }[];
  #acting: Promise<void> = Promise.resolve();
  readonly #back: Promise<void>[] = [];

  constructor(settings: FaultSettings) {
    this.#settings = settings;
    const { seconds, kills, nodesLost, replaceLeader, nodes, seed } = settings;
    const random = randomSource(seed);
    const spread = (count: number, acts: readonly (() => Promise<void>)[]) =>
      Array.from({ length: count }, (_, index) => {
        return { at: ((index + 1) * seconds) / (count + 1), act: acts[index % acts.length] ?? replaceLeader };
      });
    const loseNode = () => this.#loseNode(`node-${random.below(nodes)}`);
    const all = [...spread(kills, [replaceLeader, () => this.#restartScheduler()]), ...spread(nodesLost, [loseNode])];
    this.#due = all.sort((a, b) => a.at - b.at);
  }

  begin(second: number): void {
    while ((this.#due[0]?.at ?? Infinity) <= second) {
      const next = this.#due.shift();
      if (next !== undefined) this.#acting = this.#acting.then(next.act);
    }
  }

  async settled(): Promise<void> {
    await this.#acting;
    await Promise.all(this.#back);
  }

  async #restartScheduler(): Promise<void> {
    const { cluster } = this.#settings.own;
    await cluster.stop('kube-scheduler');
    await cluster.start('kube-scheduler');
  }

  async #loseNode(node: string): Promise<void> {
    const { own, load } = this.#settings;
    await load.loseNode(node);
    this.#back.push(letTimePass(NODE_AWAY_MS, 'double').then(() => makeFakeNode(own.admin, node)));
  }
}

/** By priority of the work. */
export const PRIORITY_CLASSES = [0, 1, 2].map((priority) => ({
  metadata: { name: `work-${priority}` },
  value: 100 * priority,
}));

/** Creates pods of works, each with an owner that there is: pods of others are collected as garbage. */
export function podCreator({ create, user }: ReturnType<typeof queueScene>, namespace: string, queue: string) {
  const owners = new Map<string, Promise<unknown>>();
  const createOwner = async (name: string): Promise<unknown> => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    return at((await user()('POST', path, { metadata: { name } })).body, 'metadata.uid');
  };
  return async (work: Work, name: string): Promise<void> => {
    const owner = owners.get(work.name) ?? createOwner(work.name);
    owners.set(work.name, owner);
    await create(pods(namespace), gangPodOf(work, { name, queue, owner: await owner }));
  };
}

function gangPodOf(
  { name: work, size, isGang, cpu, priority }: Work,
  { name, queue, owner }: { readonly name: string; readonly queue: string; readonly owner: unknown },
): object {
  const gang = { 'plimsoll.dev/gang': work, 'plimsoll.dev/gang-size': String(size) };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: work, uid: owner, controller: true }];
  const labels = { 'plimsoll.dev/queue': queue, ...(isGang && gang) };
  const spec = { terminationGracePeriodSeconds: 1, priorityClassName: `work-${priority}` };
  return podOf(name, spec, { labels, ownerReferences }, String(cpu));
}
