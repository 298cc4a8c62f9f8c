import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { Refusal } from './refusal.ts';
import { prefilter, type PrefilterState } from './prefilter-state.ts';
import { openTrial, refusalIn } from './trial.ts';

/** Why a pod does not fit on a node as it stands; `undefined` where it fits. To ask about many nodes, prepare once. */
export function fitsNode(snapshot: ClusterSnapshot, entry: NodeEntry, pod: Pod): Refusal | undefined {
  return refusalOn(prefilter(snapshot, pod), entry);
}

/** The first filter that fails decides. `pkg/scheduler/framework/runtime/framework.go` RunFilterPlugins. */
export function refusalOn(state: PrefilterState, entry: NodeEntry): Refusal | undefined {
  for (const filter of state.nodeFilters) {
    const refusal = filter(entry);
    if (refusal !== undefined) return refusal;
  }
  return refusalIn(openTrial(state, entry));
}
