/**
 * What gangs get done beside single pods, in CPU-hours of gangs that ran whole: by our queues, by a packer that packs all
 * nodes anew each second, and by Kueue's rule, in a model with the same arrivals and the same kube-scheduler. JSON on
 * stdout. `--nodes`, `--seconds`, `--load`, `--seeds`; `--no-extender` leaves the choice of victims to kube-scheduler, and
 * with `--no-preemption` it removes no pods, as if all had one priority.
 */
import { parseArgs } from 'node:util';
import { compareThroughput } from '#test/scheduler/queues/gang-throughput/compare.ts';
import type { WorkDone } from '#test/scheduler/queues/gang-throughput/run-work.ts';
import { rounded } from '#bench/shared/support/quantile.ts';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '1200' },
    load: { type: 'string', default: '1.1' },
    seeds: { type: 'string', default: '8' },
    'no-extender': { type: 'boolean', default: false },
    'no-preemption': { type: 'boolean', default: false },
  },
});
const settings = {
  nodes: Number(values.nodes),
  cpuPerNode: 16,
  seconds: Number(values.seconds),
  load: Number(values.load),
  hasExtender: !values['no-extender'],
  preempts: !values['no-preemption'],
};
const hours = (cpuSeconds: number): number => rounded(cpuSeconds / 3_600);
const shown = ({ gangs, singles, longestPart, seconds, unfinished }: WorkDone) => {
  return { gangHours: hours(gangs), singleHours: hours(singles), longestPart, seconds, unfinished: unfinished.length };
};

const seeds: object[] = [];
const sums = { ours: 0, packer: 0, kueue: 0, bound: 0 };
const singleSums = { ours: 0, packer: 0, kueue: 0 };
for (let seed = 1; seed <= Number(values.seeds); seed += 1) {
  const { gangs, singles, ours, packer, kueue, bound } = await compareThroughput(seed, settings);
  sums.ours += ours.gangs;
  sums.packer += packer.gangs;
  sums.kueue += kueue.gangs;
  sums.bound += bound;
  singleSums.ours += ours.singles;
  singleSums.packer += packer.singles;
  singleSums.kueue += kueue.singles;
  const each = { ours: shown(ours), packer: shown(packer), kueue: shown(kueue), boundHours: hours(bound) };
  seeds.push({ seed, gangs, singles, ...each, broken: ours.broken.length });
}
const ofPacker = {
  ours: rounded(sums.ours / sums.packer),
  kueue: rounded(sums.kueue / sums.packer),
  goal: 0.9,
};
const singlesOfPacker = {
  ours: rounded(singleSums.ours / singleSums.packer),
  kueue: rounded(singleSums.kueue / singleSums.packer),
};
console.log(
  JSON.stringify(
    { settings, ofPacker, singlesOfPacker, packerOfBound: rounded(sums.packer / sums.bound), seeds },
    undefined,
    2,
  ),
);
