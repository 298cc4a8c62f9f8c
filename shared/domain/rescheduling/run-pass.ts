import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { type Instant, isSameOwner } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { ReschedulingMemory } from './memory.ts';
import { type Measurements, NO_MEASUREMENTS, readCluster, type ReadOptions } from './pass-cluster.ts';
import type { OwnerGroup } from './owner-groups.ts';
import { planPass } from './plan-pass.ts';
import type { PassInput, ReschedulingResult } from './pass.ts';
import type { ReschedulingPolicy } from './policy.ts';

/** Maximum number of moves per policy and minute. */
export const MOVES_PER_MINUTE = 5;
/** Number of moves that a pass without evictions shows. */
const MAX_SHOWN = 25;

/** The settings of a pass in addition to the cluster and the policy. */
export interface PassRequest extends Pick<PassInput, 'rules'> {
  readonly now: Instant;
  readonly memory: ReschedulingMemory;
  /** Without it only PodDisruptionBudgets limit moves. */
  readonly limitsOf?: PassInput['limitsOf'];
  readonly measurements?: Measurements;
  /** Moves of the pass; by default as many as a dry run shows. */
  readonly most?: number;
}

/** Reads a snapshot and plans a pass over it; the snapshot is not changed. */
export function* runPass(
  snapshot: ClusterSnapshot,
  policy: ReschedulingPolicy,
  { now, memory, rules, limitsOf = () => [], measurements = NO_MEASUREMENTS, most = MAX_SHOWN }: PassRequest,
): Steps<ReschedulingResult> {
  const cluster = yield* readCluster(snapshot, measurements, { now, isSelected: nodesOf(policy) });
  const avoidedBy = avoidedIn(snapshot, now);
  return yield* planPass({
    cluster,
    policy,
    rules,
    limitsOf,
    memory,
    most,
    avoidedBy,
    canAvoid: ({ name }) => snapshot.pressures.has(name),
  });
}

/** Whether a policy selects a node, by the labels of the node. */
export function nodesOf({ nodeSelector }: ReschedulingPolicy): ReadOptions['isSelected'] {
  return nodeSelector === undefined ? () => true : prepareSelector(nodeSelector).matches;
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
