import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { Refusal } from '#shared/domain/preemption/filters/refusal.ts';
import type { PrefilterState } from './prefilter-state.ts';
import { openTrial, refusalIn } from './trial.ts';

/** Why a pod does not fit on a node as it stands; `undefined` where it fits. The first filter that fails decides. `pkg/scheduler/framework/runtime/framework.go` RunFilterPlugins. */
export function refusalOn(state: PrefilterState, entry: NodeEntry): Refusal | undefined {
  for (const filter of state.nodeFilters) {
    const refusal = filter(entry);
    if (refusal !== undefined) return refusal;
  }
  return refusalIn(openTrial(state, entry));
}
