import { type ArrivalSettings, drawArrivals } from './arrivals.ts';
import { drawFaults } from './faults.ts';
import { kueueRule } from './kueue-rule.ts';
import { ourQueues } from './our-queues.ts';
import { gangBound, perfectPacker } from './perfect-packer.ts';
import { runWork, type WorkDone } from './run-work.ts';

/** As kube-scheduler does unless told otherwise. */
const SCHEDULER = { spreads: true, preempts: true } as const;
const TIMEOUT_SECONDS = 60;
/** A run that is not over by then has come to a standstill. */
const LIMIT_FACTOR = 10;

export interface OurDone extends WorkDone {
  /** What should never be, as it was. */
  readonly broken: readonly string[];
  /** How many leaders there were. */
  readonly terms: number;
}

export interface ComparedWork extends ArrivalSettings {
  /** Without it kube-scheduler chooses victims alone, and does not know gangs. */
  readonly hasExtender: boolean;
  /** Unless all pods have one priority, which is the same for kube-scheduler. */
  readonly preempts?: boolean;
}

/** The same arrivals under our queues, a perfect packer and Kueue's rule. */
export async function compareThroughput(seed: number, { hasExtender, preempts = true, ...settings }: ComparedWork) {
  const scheduler = { ...SCHEDULER, preempts };
  const arrivals = drawArrivals(seed, settings);
  const nodes = nodesOf(settings);
  const sizes = [...nodes.values()];
  const run = runOf(settings);
  const { loop, cluster } = ourQueues({ nodes: Object.fromEntries(nodes), ...scheduler, hasExtender });
  const ours: OurDone = { ...(await runWork(cluster, arrivals, run)), broken: loop.broken, terms: loop.terms() };
  const packer = await runWork(perfectPacker(sizes), arrivals, run);
  const kueue = await runWork(kueueRule({ nodes, timeoutSeconds: TIMEOUT_SECONDS, ...scheduler }), arrivals, run);
  const gangs = arrivals.filter(({ isGang }) => isGang).length;
  const bound = gangBound(arrivals, sizes, run.horizon);
  return { gangs, singles: arrivals.length - gangs, ours, packer, kueue, bound };
}

/** The same arrivals under our queues while leaders, kube-schedulers and nodes are lost. */
export async function runUnderFaults(seed: number, { hasExtender, ...settings }: ComparedWork): Promise<OurDone> {
  const nodes = nodesOf(settings);
  const run = runOf(settings);
  const { fateOf, onSecond } = drawFaults(seed, nodes, run.horizon);
  const { loop, cluster } = ourQueues({ nodes: Object.fromEntries(nodes), ...SCHEDULER, hasExtender, fateOf });
  const options = { ...run, onSecond: (second: number) => onSecond(loop, second) };
  const done = await runWork(cluster, drawArrivals(seed, settings), options);
  return { ...done, broken: loop.broken, terms: loop.terms() };
}

function nodesOf({ nodes, cpuPerNode }: ArrivalSettings): ReadonlyMap<string, number> {
  return new Map(Array.from({ length: nodes }, (_, index) => [`node-${index}`, cpuPerNode]));
}

function runOf({ seconds }: ArrivalSettings) {
  return { horizon: seconds, limit: LIMIT_FACTOR * seconds };
}
