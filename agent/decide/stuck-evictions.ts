import type { Because } from '#shared/domain/model/because.ts';
import type { EvictionState } from './eviction-state.ts';
import type { Look } from './look.ts';

/** With so many evicted pods that do not end the agent stops: there is something wrong with the node (F-32). */
const MOST_STUCK = 2;
/** Where the kubelet is silent as well, one is enough to know that evictions are not carried out. */
const MOST_STUCK_IN_SILENCE = 1;

type Heard = Pick<Look, 'isKubeletSilent'>;

/** That evicted pods keep what they use beyond their grace: the API server has accepted what no kubelet carries out. */
export function stuckEvictions(
  { inflight }: Pick<EvictionState, 'inflight'>,
  { isKubeletSilent }: Heard,
): Because | undefined {
  const count = inflight.filter(({ phase }) => phase === 'stuck').length;
  if (count === 0) return undefined;
  const most = isKubeletSilent ? MOST_STUCK_IN_SILENCE : MOST_STUCK;
  const cause = isKubeletSilent ? 'Kubernetes has not heard of the kubelet either' : 'is the kubelet running?';
  return {
    code: 'Stuck',
    text: `${count} evicted pods have not ended within their grace; ${cause}`,
    facts: { count, most },
  };
}

/** The same where no further pod may go because of it. */
export function stuckGate(evictions: Pick<EvictionState, 'inflight'>, heard: Heard): Because | undefined {
  const stuck = stuckEvictions(evictions, heard);
  return stuck !== undefined && Number(stuck.facts['count']) >= Number(stuck.facts['most']) ? stuck : undefined;
}
