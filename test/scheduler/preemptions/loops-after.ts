import { loopsSchema, createPreemptionLoops, type PreemptionLoops } from '#scheduler/preemptions/preemption-loops.ts';
import { buildPod } from '#test/build/cluster.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';

/** Of the pod that displaced in each round. */
const PRIORITY = 100;

/** What is known after pods `a` and `b` have preempted each other on node n0 this many times in turn. */
export function loopsAfter(rounds: number, mode: PreemptionLoops['mode'] = 'Enforce'): PreemptionLoops {
  const loops = createPreemptionLoops(loopsSchema.parse({ mode }), manualClock());
  for (let round = 0; round < rounds; round += 1) {
    const [victim = '', preemptor = ''] = round % 2 === 0 ? ['b', 'a'] : ['a', 'b'];
    const nominated = [{ pod: buildPod({ name: preemptor }), priority: PRIORITY }];
    loops.see({ pod: buildPod({ name: victim }), node: 'n0', priority: PRIORITY - 1 }, () => nominated);
  }
  return loops;
}
