import type { Steps } from '#shared/domain/model/steps.ts';
import { reachedGain, yardstickOf } from './load.ts';
import type { PastMove, ReachedGain } from './memory.ts';
import type { PassCluster } from './pass-cluster.ts';
import { wishesOfAffinity } from './policies/affinity.ts';
import { wishesOfBadService } from './policies/bad-service.ts';
import { wishesOfUnderused } from './policies/underused.ts';
import type { PolicyInput, WishGroup } from './policies/wish.ts';
import type { PolicyKind, ReschedulingPolicy } from './policy.ts';

/** What a policy wishes for, and what one of its moves has brought. */
interface Policy {
  readonly wishes: (input: PolicyInput) => Steps<readonly WishGroup[]>;
  readonly reached: (cluster: PassCluster, policy: ReschedulingPolicy) => ReachedGain;
}

/* eslint-disable-next-line require-yield -- a policy that is off wishes for nothing */
function* nothing(): Steps<readonly WishGroup[]> {
  return [];
}

/** Moved is mended: the replacement is on another node, which the filters of kube-scheduler admit. */
function movedAway({ from, expected }: PastMove, node: string): number {
  return node === from ? 0 : expected;
}

/** Every policy; a pass serves them in the order of `POLICY_KINDS`. */
export const POLICIES: Readonly<Record<PolicyKind, Policy>> = {
  affinity: {
    wishes: (input) =>
      input.policy.affinity === undefined ? nothing() : wishesOfAffinity(input, input.policy.affinity),
    reached:
      () =>
      (move, _, { name }) =>
        movedAway(move, name),
  },
  badService: {
    wishes: (input) =>
      input.policy.badService === undefined ? nothing() : wishesOfBadService(input, input.policy.badService),
    reached:
      () =>
      (move, _, { name }) =>
        movedAway(move, name),
  },
  underused: {
    wishes: (input) =>
      input.policy.underused === undefined ? nothing() : wishesOfUnderused(input, input.policy.underused),
    reached: (cluster, { underused }) => {
      if (underused === undefined) return ({ expected }) => expected;
      const yardstick = yardstickOf(cluster, underused);
      return (move, placed, node) => reachedGain(yardstick, move, [placed, cluster.byName.get(move.from), node]);
    },
  },
};
