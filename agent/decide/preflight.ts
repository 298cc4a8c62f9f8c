import type { Pod } from '#shared/domain/model/pod.ts';
import { isBelow } from '#shared/domain/pressure/is-below.ts';
import type { Observations } from '#shared/domain/pressure/observation.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import type { AttemptOutcome } from './apply-outcome.ts';
import type { Eviction } from './decide.ts';
import { decidingObservations } from './deciding-observations.ts';
import type { NodeView } from './node-view.ts';
import { isEnding, type NamespaceState } from './look.ts';
import { lastingProtection } from './ineligibility.ts';

/** A pod and its namespace as the API server has them at this moment. */
export type FreshPod =
  | { readonly kind: 'found'; readonly pod: Pod; readonly namespace: NamespaceState }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown'; readonly message: string };

export interface Preflight {
  readonly fresh: FreshPod;
  readonly view: Pick<NodeView, 'readings' | 'reclaimable'>;
}

/**
 * The last look before acting: why an eviction that was decided a moment ago must not be sent any more, `undefined` if
 * it may. What was judged came from a watch and a measurement that may have been overtaken (F-20, F-29).
 */
export function abortReason(
  eviction: Eviction,
  { fresh, view }: Preflight,
  policy: AgentPolicy,
): AttemptOutcome | undefined {
  const { namespace, name } = eviction.pod;
  if (fresh.kind === 'unknown') {
    return { kind: 'unconfirmed', message: `pod ${namespace}/${name} could not be read again: ${fresh.message}` };
  }
  const change = fresh.kind === 'gone' ? 'is gone' : changeOf(eviction, fresh, policy);
  if (change !== undefined) return { kind: 'overtaken', message: `pod ${namespace}/${name} ${change}` };
  return isStillShort(eviction, decidingObservations(view, policy))
    ? undefined
    : { kind: 'relieved', message: `${eviction.threshold.signal} is not short any more, or not known` };
}

type Found = Extract<FreshPod, { kind: 'found' }>;

function changeOf({ pod: judged }: Eviction, { pod, namespace }: Found, policy: AgentPolicy): string | undefined {
  if (pod.uid !== judged.uid) return `has the UID ${pod.uid} now, ${judged.uid} was judged`;
  if (isEnding(pod)) return 'is ending already';
  const protection = lastingProtection(pod, policy, new Map([[pod.namespace, namespace]]));
  return protection && `may not go any more: ${protection.text}`;
}

/** Waiting has no amount, and its windows do not change within a moment. */
function isStillShort({ threshold, observed }: Eviction, observations: Observations): boolean {
  return observed === undefined || isBelow(threshold, observations, 'withMinimumReclaim');
}
