import { ownerText } from '#shared/domain/pod/owner-key.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { EvictionRecord } from './pass-result.ts';
import type { AgentState } from './agent-state.ts';
import type { PastEviction } from './eviction/eviction-windows.ts';

/** Outcomes that count in the windows; one without a recorded answer may have taken effect. */
const COUNTED: readonly EvictionRecord['outcome'][] = ['evicted', 'foundEnding', 'pretended', 'requested'];

/**
 * The state of a process that has just started, with the evictions that the previous process recorded: the windows
 * continue, and owners disrupted before the restart rank later after it. Evictions in flight are read from
 * the pods. `wallOffsetMs` added to a monotonic time gives wall time; a record from a clock that was ahead counts as of
 * `now`, so that no window holds for longer than its length.
 */
export function restoreState(
  state: AgentState,
  records: readonly EvictionRecord[],
  { wallOffsetMs, now }: { readonly wallOffsetMs: number; readonly now: Instant },
): AgentState {
  const counted = records.filter(({ outcome }) => COUNTED.includes(outcome));
  const pastIn = (mode: Mode): readonly PastEviction[] => {
    const past = counted.filter((record) => record.mode === mode).map((record) => pastOf(record, wallOffsetMs, now));
    return past.toSorted((left, right) => left.at - right.at);
  };
  const { Enforce, DryRun } = state.evictions;
  const evictions = {
    Enforce: { ...Enforce, past: [...pastIn('Enforce'), ...Enforce.past] },
    DryRun: { ...DryRun, past: [...pastIn('DryRun'), ...DryRun.past] },
  };
  return { ...state, evictions };
}

function pastOf({ pod, owner, signal, requestedAt }: EvictionRecord, wallOffsetMs: number, now: Instant): PastEviction {
  const at = Math.min(requestedAt - wallOffsetMs, now);
  const past = { at, uid: pod.uid, namespace: pod.namespace, resource: resourceOf(signal) };
  return { ...past, owner: owner && ownerText(owner) };
}
