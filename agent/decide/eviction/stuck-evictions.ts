import type { Because } from '#shared/domain/model/because.ts';
import type { EvictionState } from './eviction-state.ts';
import type { Stage } from './inflight-eviction.ts';
import type { NodeSnapshot } from '#agent/decide/snapshot/node-snapshot.ts';
import { REASONS } from '#agent/messages.ts';

/**
 * With this many evicted pods that do not terminate, the agent stops: something is wrong with the node. In the severe
 * stage a stuck pod does not keep the agent from the next pod above its request; pods within theirs stay anyway. The
 * bound, which no urgency lifts, is the default number of evictions in ten minutes (docs/decisions/0058).
 */
const MOST_STUCK: Readonly<Record<Stage, number>> = { mild: 2, severe: 4 };
/** If the kubelet posts no status either, one is enough to know that evictions are not carried out. */
const MOST_STUCK_IN_SILENCE = 1;

type KubeletContact = Pick<NodeSnapshot, 'isKubeletSilent'>;

type Evictions = Pick<EvictionState, 'inflight'>;

/** Number of evicted pods that hold their resources beyond their grace period. */
export function stuckCount({ inflight }: Evictions): number {
  return inflight.filter(({ phase }) => phase === 'stuck').length;
}

/**
 * Why evictions are stuck: the API server accepted evictions that the kubelet does not carry out; `undefined` if none
 * is.
 */
export function stuckEvictions(
  evictions: Evictions,
  contact: KubeletContact,
  stage: Stage = 'mild',
): Because | undefined {
  const count = stuckCount(evictions);
  if (count === 0) return undefined;
  const { isKubeletSilent } = contact;
  return REASONS.stuck({ count, isKubeletSilent }, { count, most: mostStuck(contact, stage) });
}

/** The reason as a gate: `undefined` while further evictions are allowed. */
export function stuckGate(evictions: Evictions, contact: KubeletContact, stage: Stage): Because | undefined {
  return stuckCount(evictions) < mostStuck(contact, stage) ? undefined : stuckEvictions(evictions, contact, stage);
}

function mostStuck({ isKubeletSilent }: KubeletContact, stage: Stage): number {
  return isKubeletSilent ? MOST_STUCK_IN_SILENCE : MOST_STUCK[stage];
}
