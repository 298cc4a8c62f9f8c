import { randomSource } from '#test/fakes/random-source.ts';

/** Pods that run together for a while, or one pod. */
export interface Work {
  readonly name: string;
  /** In seconds from the beginning. */
  readonly at: number;
  readonly size: number;
  readonly isGang: boolean;
  /** Of each pod. */
  readonly cpu: number;
  readonly priority: number;
  /** How long all pods have to run. */
  readonly seconds: number;
}

export interface ArrivalSettings {
  readonly nodes: number;
  readonly cpuPerNode: number;
  /** How long work arrives. */
  readonly seconds: number;
  /** What arrives, as a share of what all nodes can do. */
  readonly load: number;
  /** How many times faster all of it comes and runs. */
  readonly pace?: number;
}

const GANG_SHARE = 0.6;
const GANG_CPUS = [1, 1, 2, 2, 4] as const;
const SINGLE_CPUS = [1, 2, 3, 4] as const;
/** CPU-seconds of one gang and of one single pod, in the mean of many. */
const GANG_WORK = 3_900;
const SINGLE_WORK = 262;

/** Gangs of 2 to 32 pods and about ten times as many single pods, of mixed priorities and sizes. */
export function drawArrivals(
  seed: number,
  { nodes, cpuPerNode, seconds, load, pace = 1 }: ArrivalSettings,
): readonly Work[] {
  const random = randomSource(seed);
  const perSecond = nodes * cpuPerNode * load * pace;
  const gangChance = (perSecond * GANG_SHARE) / GANG_WORK;
  const singleRate = (perSecond * (1 - GANG_SHARE)) / SINGLE_WORK;
  const drawn: Work[] = [];
  const add = (at: number, isGang: boolean): void => {
    const size = isGang ? Math.round(2 ** (1 + 4 * random.next())) : 1;
    const most = Math.max(1, Math.floor((nodes * cpuPerNode) / 2 / size));
    const cpu = Math.min(most, random.pick(isGang ? GANG_CPUS : SINGLE_CPUS));
    const lasts = (isGang ? 60 + random.below(240) : 30 + random.below(150)) / pace;
    const name = `${isGang ? 'gang' : 'single'}-${drawn.length}`;
    drawn.push({ name, at, size, isGang, cpu, priority: random.below(3), seconds: lasts });
  };
  let singles = 0;
  for (let at = 0; at < seconds; at += 1) {
    if (random.chance(gangChance)) add(at, true);
    for (singles += 2 * random.next() * singleRate; singles >= 1; singles -= 1) add(at, false);
  }
  return drawn;
}
