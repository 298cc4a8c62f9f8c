import { resourceOf, type Signal, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { PodUsage, UsageByUid } from '#shared/domain/ranking/pod-usage.ts';

type Figure = (usage: PodUsage) => number | undefined;

const NOT_MEASURED: Figure = () => undefined;

/** The figure that a ranking by this resource needs. Disks have none: they are left to the kubelet. */
const FIGURES: Readonly<Record<StarvedResource, Figure>> = {
  memory: ({ memory }) => memory?.workingSetBytes,
  pids: ({ processCount }) => processCount,
  cpu: ({ cpuNanoCores }) => cpuNanoCores,
  io: ({ ioBytesPerSecond }) => ioBytesPerSecond,
  'ephemeral-storage': NOT_MEASURED,
  inodes: NOT_MEASURED,
};

/** A pod's usage of the resource of a signal; `undefined` if it was not measured. */
export function figureFor(signal: Signal, usage: PodUsage | undefined): number | undefined {
  return usage === undefined ? undefined : FIGURES[resourceOf(signal)](usage);
}

/** Total usage of the resource of a signal by all pods but one. */
export function othersUse(signal: Signal, usage: UsageByUid, uid: string): number {
  let sum = 0;
  for (const each of usage.values()) if (each.uid !== uid) sum += figureFor(signal, each) ?? 0;
  return sum;
}
