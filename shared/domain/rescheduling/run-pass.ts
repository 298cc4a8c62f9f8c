import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { isSameOwner } from '#shared/domain/pod/pod-owner.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { ReschedulingMemory } from './memory.ts';
import { type Measurements, NO_MEASUREMENTS, type OwnerGroup, readCluster } from './pass-cluster.ts';
import { type PassInput, planPass, type PassResult } from './plan-pass.ts';
import type { ReschedulingPolicy } from './policy.ts';

/** Moves that one policy makes a minute at most. */
export const MOVES_PER_MINUTE = 5;
/** And in one pass, however long its period is. */
const MOST_IN_PASS = 50;

/** What a pass is asked with, beside the cluster and the policy. */
export interface PassRequest extends Pick<PassInput, 'rules'> {
  readonly now: Instant;
  readonly memory: ReschedulingMemory;
  readonly limits?: PassInput['limits'];
  readonly measurements?: Measurements;
}

/** Reads a snapshot and plans a pass over it; the snapshot stays as it is. */
export function* runPass(
  snapshot: ClusterSnapshot,
  policy: ReschedulingPolicy,
  { now, memory, rules, limits = [], measurements = NO_MEASUREMENTS }: PassRequest,
): Steps<PassResult> {
  const { nodeSelector } = policy;
  const isSelected = nodeSelector === undefined ? () => true : prepareSelector(nodeSelector).matches;
  const cluster = yield* readCluster(snapshot, measurements, { now, isSelected });
  const avoidedBy = avoidedIn(snapshot, now);
  return yield* planPass({ cluster, policy, rules, limits, memory, most: movesOf(policy), avoidedBy });
}

/** The moves of one pass, so that passes in succession keep to the rate. */
export function movesOf({ schedule: { periodSeconds } }: ReschedulingPolicy): number {
  return Math.max(1, Math.min(MOST_IN_PASS, Math.floor((periodSeconds * MOVES_PER_MINUTE) / 60)));
}

/** The nodes whose NodePressure keeps an owner away. */
function avoidedIn({ pressures }: ClusterSnapshot, now: Instant): PassInput['avoidedBy'] {
  const avoiding = [...pressures.values()].filter(({ avoid }) => avoid.length > 0);
  return ({ key }: OwnerGroup) => {
    const found = avoiding.filter(({ avoid }) =>
      avoid.some(({ owner, until }) => until > now && isSameOwner(owner, key)),
    );
    return new Set(found.map(({ node }) => node));
  };
}
