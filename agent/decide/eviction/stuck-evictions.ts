import type { Because } from '#shared/domain/model/because.ts';
import type { EvictionState } from './eviction-state.ts';
import type { NodeSnapshot } from '#agent/decide/snapshot/node-snapshot.ts';

/** With so many evicted pods that do not end the agent stops: there is something wrong with the node (F-32). */
const MOST_STUCK = 2;
/** Where the kubelet is silent as well, one is enough to know that evictions are not carried out. */
const MOST_STUCK_IN_SILENCE = 1;

type KubeletContact = Pick<NodeSnapshot, 'isKubeletSilent'>;

type Evictions = Pick<EvictionState, 'inflight'>;

/** How many evicted pods keep what they use beyond their grace. */
export function stuckCount({ inflight }: Evictions): number {
  return inflight.filter(({ phase }) => phase === 'stuck').length;
}

/** That there are such pods: the API server has accepted what no kubelet carries out. */
export function stuckEvictions(evictions: Evictions, contact: KubeletContact): Because | undefined {
  const count = stuckCount(evictions);
  if (count === 0) return undefined;
  const cause = contact.isKubeletSilent ? 'Kubernetes has not heard of the kubelet either' : 'is the kubelet running?';
  return {
    code: 'Stuck',
    text: `${count} evicted pods have not ended within their grace; ${cause}`,
    facts: { count, most: mostStuck(contact) },
  };
}

/** The same where no further pod may go because of it. */
export function stuckGate(evictions: Evictions, contact: KubeletContact): Because | undefined {
  return stuckCount(evictions) < mostStuck(contact) ? undefined : stuckEvictions(evictions, contact);
}

function mostStuck({ isKubeletSilent }: KubeletContact): number {
  return isKubeletSilent ? MOST_STUCK_IN_SILENCE : MOST_STUCK;
}
