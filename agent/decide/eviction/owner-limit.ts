import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Ineligible } from '#shared/domain/eviction/choose-victims.ts';
import { overageOfLimited } from '#shared/domain/eviction/limited-owner.ts';
import { resourceOf, type Signal, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { EvictionState } from './eviction-state.ts';
import { evictionsOf } from './eviction-windows.ts';
import { isUncounted } from './inflight-eviction.ts';
import { ownerOf } from '#shared/domain/pod/pod-owner.ts';
import { REASONS } from '#agent/messages.ts';

const HOUR_MS = 3_600_000;
const OWNER_LIMIT = 'OwnerLimit';

/** Input of the owner limit. */
export interface OwnerLimitQuery {
  readonly signal: Signal;
  readonly evictions: EvictionState;
  readonly now: Instant;
  /** Largest number of evicted pods of one owner per hour. */
  readonly most: number;
}

/**
 * Why a candidate must not be evicted because its owner has reached its limit for this resource: a replacement would
 * return and use as much again, and an agent that acts before the kubelet prevents the taint that would keep it away.
 */
export function ownerLimit(
  query: OwnerLimitQuery,
): (candidate: Candidate, victims: readonly Candidate[]) => Because | undefined {
  const lost = lostByOwner(query, resourceOf(query.signal));
  return ({ facts: { pod } }, victims) => {
    const owner = ownerOf(pod);
    if (owner === undefined) return undefined;
    const count = (lost.get(owner) ?? 0) + victims.filter(({ facts }) => ownerOf(facts.pod) === owner).length;
    if (count < query.most) return undefined;
    const { namespace, name, uid } = pod;
    const figures = { owner, count, most: query.most };
    return REASONS.ownerLimit(figures, { ...figures, namespace, pod: name, uid });
  };
}

/** Why a candidate must not be evicted in place of a pod whose owner is at its limit. */
export function takesLessThanLimited(candidate: Candidate, ineligible: readonly Ineligible[]): Because | undefined {
  const limited = ineligible.filter(({ because }) => isOwnerLimit(because)).map((each) => each.candidate);
  const largest = overageOfLimited(candidate, limited);
  if (largest === undefined) return undefined;
  return REASONS.lessThanLimitedOwner({}, { overage: candidate.roundedOverage, largest });
}

/** Whether a pod stays because of its owner's limit; if no other pod is eligible, the kubelet takes over. */
export function isOwnerLimit({ code }: Because): boolean {
  return code === OWNER_LIMIT;
}

function lostByOwner({ evictions, now }: OwnerLimitQuery, resource: StarvedResource): ReadonlyMap<string, number> {
  const past = evictionsOf(evictions.past, resource).filter(({ at }) => now - at < HOUR_MS);
  const asked = evictions.inflight.filter((each) => isUncounted(each) && resourceOf(each.signal) === resource);
  const lost = new Map<string, number>();
  for (const { owner } of [...past, ...asked]) if (owner !== undefined) lost.set(owner, (lost.get(owner) ?? 0) + 1);
  return lost;
}
