import { ownerId, ownerText } from '#shared/domain/pod/pod-owner.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import type { KeepAway, PassInput } from '#shared/domain/rescheduling/pass.ts';
import type { KubeletRefusal } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { LONG_AVOID_MS } from './move-candidate.ts';

/** A refused pod has ended and its controller creates another one, so older refusals say little about the node now. */
const REFUSED_WITHIN_MS = 3_600_000;
const MAX_KEPT_AWAY = 25;

/** Owners whose pods the kubelet of a node has refused too often: kube-scheduler would place the next one there again (S3-4). */
export function ownersToKeepAway({ cluster, policy, avoidedBy }: PassInput): readonly KeepAway[] {
  const limit = policy.badService?.refused ?? Infinity;
  const recent = [...cluster.snapshot.refusals.values()].filter(({ at }) => at > cluster.now - REFUSED_WITHIN_MS);
  const byPlace = Map.groupBy(recent, ({ node, owner }) => `${node} ${ownerId(owner)}`);
  const found = [...byPlace.values()].filter((refusals) => refusals.length >= limit).map(keepAway);
  return found.filter(({ owner, node }) => isOpen(cluster, node) && !isAvoided(owner, node)).slice(0, MAX_KEPT_AWAY);

  function keepAway(refusals: readonly KubeletRefusal[]): KeepAway {
    const { node, owner, reason } = refusals.at(-1) as KubeletRefusal;
    const because = REASONS.refused({ node, count: refusals.length, most: limit, why: reason });
    return { owner, node, forMs: LONG_AVOID_MS, because: { ...because, facts: { owner: ownerText(owner) } } };
  }
  function isAvoided(key: KeepAway['owner'], node: string): boolean {
    return avoidedBy({ id: ownerId(key), key, pods: [] }).has(node);
  }
}

/** kube-scheduler places no pods on a node that is closed. */
function isOpen({ byName }: PassInput['cluster'], node: string): boolean {
  const found = byName.get(node);
  return found !== undefined && found.closed === undefined;
}
