import { prefilter } from '#shared/domain/preemption/trial/prefilter-state.ts';
import { openTrial, refusalIn, takeOff } from '#shared/domain/preemption/trial/trial.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { sheetOf } from '#shared/domain/snapshot/node-entry.ts';
import type { ReclaimQuestion } from './reclaim.ts';

/**
 * Whether a pod fits on a node without the victims, by all filters of kube-scheduler that the extender has, too: taints,
 * affinity, ports, spread and amounts (S2-24). Stale as soon as the snapshot changes. A victim that the snapshot does not
 * have on that node makes the answer no.
 */
export function fitCheck(snapshot: ClusterSnapshot, pod: Pod): NonNullable<ReclaimQuestion['fits']> {
  const state = prefilter(snapshot, pod);
  return (name, victims) => {
    const entry = snapshot.nodes.get(name);
    if (entry === undefined || state.nodeFilters.some((filter) => filter(entry) !== undefined)) return false;
    const { uids } = sheetOf(entry);
    const indexes = victims.map(({ uid }) => uids.indexOf(uid));
    if (indexes.includes(-1)) return false;
    const trial = openTrial(state, entry);
    takeOff(trial, indexes);
    return refusalIn(trial) === undefined;
  };
}
