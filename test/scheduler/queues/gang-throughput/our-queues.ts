import { gangLoop, type GangLoopSettings } from '#test/scheduler/queues/gang-loop.ts';
import type { Work } from './arrivals.ts';
import type { WorkCluster } from './run-work.ts';

/** The decisions of the product, in the loop of its own tests. */
export function ourQueues(settings: GangLoopSettings) {
  const loop = gangLoop(settings);
  let byWork = new Map<string, readonly { readonly name: string; readonly isOn: boolean }[]>();
  const cluster: WorkCluster = {
    arrive: ({ name, size, isGang, cpu, priority }) => {
      if (isGang) loop.createGang(name, size, cpu, { priority });
      else loop.create({ name, cpu, priority, owner: name });
    },
    step: async () => {
      await loop.step();
      byWork = Map.groupBy(
        loop.pods().map(({ name, gang, owner, node, deletionAt }) => {
          return { name, of: gang ?? owner ?? name, isOn: node !== undefined && deletionAt === undefined };
        }),
        ({ of }) => of,
      );
    },
    running: ({ name }) => (byWork.get(name) ?? []).filter(({ isOn }) => isOn).length,
    finish: ({ name }: Work) => {
      for (const pod of byWork.get(name) ?? []) loop.remove(pod.name);
    },
  };
  return { loop, cluster };
}
