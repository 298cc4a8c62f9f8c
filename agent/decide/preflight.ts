import type { Pod } from '#shared/domain/pod/pod.ts';
import { isBelow } from '#shared/domain/pressure/threshold.ts';
import type { Observations } from '#shared/domain/pressure/signal.ts';
import { type AgentPolicy, modeOf } from '#shared/api/node-pressure-policy/policy.ts';
import type { AttemptOutcome } from './apply-outcome.ts';
import { decidingObservations } from './snapshot/deciding-figures.ts';
import type { Eviction } from './eviction.ts';
import { type ObservedNode, isTerminating, type NamespaceState } from './snapshot/node-snapshot.ts';
import { lastingProtection } from './ranking/rank-node.ts';
import { ABORTS } from '#agent/messages.ts';

/** A pod and its namespace as just read from the API server. */
export type FreshPod =
  | { readonly kind: 'found'; readonly pod: Pod; readonly namespace: NamespaceState }
  | { readonly kind: 'gone' }
  /** The API server did not answer. */
  | {
      readonly kind: 'unknown';
      readonly message: string;
      /** Whether the API server answered, with an error about this pod or its namespace. */
      readonly isAnswered?: boolean;
      readonly retryAfterSeconds?: number | undefined;
    }
  /** The object cannot be decoded. */
  | { readonly kind: 'unreadable'; readonly message: string };

/** The observations made right before a request. */
export interface Preflight {
  readonly fresh: FreshPod;
  readonly view: Pick<ObservedNode, 'readings' | 'reclaimable'>;
}

/**
 * The last check before acting: why the agent must not send an eviction that it has just decided, `undefined` if it
 * may. The decision used a watch and a measurement that may be outdated; the policy may have changed as well.
 */
export function abortReason(
  eviction: Eviction,
  { fresh, view }: Preflight,
  policy: AgentPolicy,
): AttemptOutcome | undefined {
  if (eviction.mode === 'Enforce' && modeOf(eviction, policy) !== 'Enforce') {
    return { kind: 'disarmed', message: ABORTS.noLongerEnforced(policy.name) };
  }
  return changeSince(eviction, fresh, policy) ?? recoverySince(eviction, decidingObservations(view, policy));
}

function changeSince(eviction: Eviction, fresh: FreshPod, policy: AgentPolicy): AttemptOutcome | undefined {
  const name = `${eviction.pod.namespace}/${eviction.pod.name}`;
  switch (fresh.kind) {
    case 'unknown': {
      const message = ABORTS.unread(name, fresh.message);
      const { isAnswered = false, retryAfterSeconds } = fresh;
      return { kind: 'unconfirmed', message, isAnswered, retryAfterSeconds };
    }
    case 'unreadable':
      return { kind: 'unreadable', message: ABORTS.unread(name, fresh.message) };
    case 'gone':
      return { kind: 'overtaken', message: ABORTS.gone(name) };
    case 'found': {
      const message = changeOf(eviction, fresh, policy);
      return message === undefined ? undefined : { kind: 'overtaken', message };
    }
  }
}

function recoverySince(eviction: Eviction, observations: Observations): AttemptOutcome | undefined {
  if (isStillShort(eviction, observations)) return undefined;
  return { kind: 'relieved', message: ABORTS.relieved(eviction.threshold.signal) };
}

type Found = Extract<FreshPod, { kind: 'found' }>;

function changeOf(
  { pod: decided, isShortening, optOut }: Eviction,
  { pod, namespace }: Found,
  policy: AgentPolicy,
): string | undefined {
  const name = `${decided.namespace}/${decided.name}`;
  if (pod.uid !== decided.uid) return ABORTS.otherUid(name, pod.uid, decided.uid);
  if (isTerminating(pod) && !isShortening) return ABORTS.terminating(name);
  const force = policy.protect.optOut === 'Always' ? 'honoured' : optOut;
  const protection = lastingProtection(pod, policy, new Map([[pod.namespace, namespace]]), force);
  return protection && ABORTS.nowProtected(name, protection.text);
}

/** Stalls have no amount, and their windows do not change within a moment. */
function isStillShort({ threshold, observed }: Eviction, observations: Observations): boolean {
  return observed === undefined || isBelow(threshold, observations, 'withMinimumReclaim');
}
