import type { Pod } from '#shared/domain/model/pod.ts';
import { isBelow } from '#shared/domain/pressure/is-below.ts';
import type { Observations } from '#shared/domain/pressure/observation.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import type { AttemptOutcome } from './apply-outcome.ts';
import { decidingObservations } from './snapshot/deciding-observations.ts';
import type { Eviction } from './eviction.ts';
import type { NodeView } from './snapshot/node-view.ts';
import { isTerminating, type NamespaceState } from './snapshot/node-snapshot.ts';
import { lastingProtection } from './ranking/ineligibility.ts';
import { modeOf } from './shortage/rule-mode.ts';

/** A pod and its namespace as the API server has them at this moment. */
export type FreshPod =
  | { readonly kind: 'found'; readonly pod: Pod; readonly namespace: NamespaceState }
  | { readonly kind: 'gone' }
  /** The API server did not tell. */
  | { readonly kind: 'unknown'; readonly message: string; readonly retryAfterSeconds?: number | undefined }
  /** What it told cannot be read. */
  | { readonly kind: 'unreadable'; readonly message: string };

/** What is seen right before a request. */
export interface Preflight {
  readonly fresh: FreshPod;
  readonly view: Pick<NodeView, 'readings' | 'reclaimable'>;
}

/**
 * The last look before acting: why an eviction that was decided a moment ago must not be sent any more, `undefined` if
 * it may. What was judged came from a watch and a measurement that may have been overtaken (F-20, F-29); the policy may
 * have changed as well.
 */
export function abortReason(
  eviction: Eviction,
  { fresh, view }: Preflight,
  policy: AgentPolicy,
): AttemptOutcome | undefined {
  if (eviction.mode === 'Enforce' && modeOf(eviction, policy) !== 'Enforce') {
    return { kind: 'disarmed', message: `policy ${policy.name} does not enforce this any more` };
  }
  return changeSince(eviction, fresh, policy) ?? recoverySince(eviction, decidingObservations(view, policy));
}

function changeSince(eviction: Eviction, fresh: FreshPod, policy: AgentPolicy): AttemptOutcome | undefined {
  const name = `pod ${eviction.pod.namespace}/${eviction.pod.name}`;
  switch (fresh.kind) {
    case 'unknown': {
      const message = `cannot read ${name} again: ${fresh.message}`;
      return { kind: 'unconfirmed', message, retryAfterSeconds: fresh.retryAfterSeconds };
    }
    case 'unreadable':
      return { kind: 'unreadable', message: `cannot read ${name} again: ${fresh.message}` };
    case 'gone':
      return { kind: 'overtaken', message: `${name} is gone` };
    case 'found': {
      const change = changeOf(eviction, fresh, policy);
      return change === undefined ? undefined : { kind: 'overtaken', message: `${name} ${change}` };
    }
  }
}

function recoverySince(eviction: Eviction, observations: Observations): AttemptOutcome | undefined {
  if (isStillShort(eviction, observations)) return undefined;
  return { kind: 'relieved', message: `${eviction.threshold.signal} is not short any more, or not known` };
}

type Found = Extract<FreshPod, { kind: 'found' }>;

function changeOf(
  { pod: judged, isShortening }: Eviction,
  { pod, namespace }: Found,
  policy: AgentPolicy,
): string | undefined {
  if (pod.uid !== judged.uid) return `has the UID ${pod.uid} now, ${judged.uid} was judged`;
  if (isTerminating(pod) && !isShortening) return 'is ending already';
  const protection = lastingProtection(pod, policy, new Map([[pod.namespace, namespace]]));
  return protection && `may not go any more: ${protection.text}`;
}

/** Waiting has no amount, and its windows do not change within a moment. */
function isStillShort({ threshold, observed }: Eviction, observations: Observations): boolean {
  return observed === undefined || isBelow(threshold, observations, 'withMinimumReclaim');
}
