import type { EvictionRecord } from '#agent/picture.ts';
import type { AgentState } from './agent-state.ts';

/** Outcomes that count in the windows; one whose answer is not on record may have taken effect. */
const COUNTED: readonly EvictionRecord['outcome'][] = ['evicted', 'foundEnding', 'pretended', 'requested'];

/**
 * The memory of a process that has just started with what its predecessor told of its evictions: the windows go on
 * where they were, and owners hit before the restart are spared after it (F-17, F-18). What is under way still is read from
 * the pods themselves. `wallOffsetMs` added to a monotonic time gives wall time.
 */
export function recall(state: AgentState, records: readonly EvictionRecord[], wallOffsetMs: number): AgentState {
  const earlier = records
    .filter(({ outcome }) => COUNTED.includes(outcome))
    .map(({ pod, owner, requestedAt }) => ({ at: requestedAt - wallOffsetMs, namespace: pod.namespace, owner }))
    .toSorted((left, right) => left.at - right.at);
  return { ...state, past: [...earlier, ...state.past] };
}
