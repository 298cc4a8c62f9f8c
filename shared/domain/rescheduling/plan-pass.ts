import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { createGuesser } from './guess-placement.ts';
import { unevenness, reachedGain, yardstickOf } from './load.ts';
import { rememberMoves, resolveMoves, type PastMove, type ReachedGain } from './memory.ts';
import type { ReschedulingPass, PassInput, ReschedulingResult } from './pass.ts';
import { failureOf } from './policies/failing-pod.ts';
import { ownersToKeepAway, badServiceCandidates } from './policies/bad-service.ts';
import { countReadings, nodesOverTarget, underusedCandidates } from './policies/underused.ts';
import type { PolicyInput, CandidateGroup } from './policies/move-candidate.ts';
import { POLICY_KINDS, RESTRAINTS, type PolicyKind, type ReschedulingPolicy } from './policy.ts';
import { openAccount } from './restraint.ts';
import { isMovable, runningPod, runsOn } from './running-pod.ts';
import { MAX_STAYS, servePolicy } from './serve-policy.ts';
import type { Arrival } from './spread-scores.ts';
import type { PassCluster } from './pass-cluster.ts';
import { affinityCandidates } from './policies/affinity.ts';

/**
 * Plans one pass. The cluster is changed as if the moves were made; each move is planned on the result of the earlier
 * ones.
 */
export function* planPass(input: PassInput): Steps<ReschedulingResult> {
  const { cluster, policy } = input;
  const before = unevenness(cluster);
  yield;
  const settled = resolveMoves(input.memory, cluster, {
    reachedBy: (kind) => POLICIES[kind].reached(cluster, policy),
    isFailing: (placed) => failureOf(placed, policy.badService, cluster.measurements) !== undefined,
  });
  const memory = { ...settled, ...countReadings(settled, cluster, policy.underused) };
  const restraint = RESTRAINTS[policy.aggressiveness];
  const arrivals: Arrival[] = [];
  const pass: ReschedulingPass = {
    input,
    memory,
    account: openAccount(cluster, memory, { restraint, limitsOf: input.limitsOf }),
    guesser: yield* createGuesser(cluster, arrivals),
    arrivals,
    moves: [],
    stays: [],
    looks: 0,
    considered: 0,
  };
  const asked: PolicyInput = { ...input, restraint, memory, ...movableIn(pass) };
  for (const kind of POLICY_KINDS) yield* servePolicy(pass, kind, yield* POLICIES[kind].candidates(asked));
  yield;
  const after = unevenness(cluster);
  const over = yield* nodesOverTarget(asked);
  const made = pass.moves.map(({ move, past }) => ({ owner: move.pod.owner.id, move: past }));
  return {
    moves: pass.moves.map(({ move }) => move),
    stays: pass.stays,
    overTarget: over,
    keptAway: ownersToKeepAway(input),
    considered: pass.considered,
    unevenness: { before, after },
    memory: rememberMoves(memory, made),
  };
}

function movableIn(pass: ReschedulingPass): Pick<PolicyInput, 'movable' | 'isMovable' | 'onStay'> {
  const { cluster, rules } = pass.input;
  return {
    movable: (placed, node) => {
      const movable = runningPod(cluster, [placed, node], rules);
      if (movable !== undefined) pass.considered += 1;
      return movable;
    },
    isMovable: (placed, node) => {
      if (runsOn(placed, node)) pass.considered += 1;
      return isMovable(cluster, [placed, node], rules);
    },
    onStay: ({ pod: { namespace, name } }, node, because) => {
      if (!isWorthReporting(because) || pass.stays.length >= MAX_STAYS) return;
      pass.stays.push({ pod: `${namespace}/${name}`, node: node.name, policy: 'underused', because });
    },
  };
}

/** Not that pods of DaemonSets and of the system stay, which is expected. */
function isWorthReporting({ code }: Because): boolean {
  return code === 'ProtectedOptOut' || code === 'RunsToCompletion' || code === 'VirtualMachine';
}

/** What a policy proposes, and what one of its moves gained. */
interface PolicyFunctions {
  readonly candidates: (input: PolicyInput) => Steps<readonly CandidateGroup[]>;
  readonly reached: (cluster: PassCluster, policy: ReschedulingPolicy) => ReachedGain;
}

/* eslint-disable-next-line require-yield -- a policy that is off proposes nothing */
function* nothing(): Steps<readonly CandidateGroup[]> {
  return [];
}

/** A moved pod is repaired: the replacement is on another node that passes kube-scheduler's filters. */
function movedAway({ from, expected }: PastMove, node: string): number {
  return node === from ? 0 : expected;
}

/** Every policy; a pass runs them in the order of `POLICY_KINDS`. */
const POLICIES: Readonly<Record<PolicyKind, PolicyFunctions>> = {
  affinity: {
    candidates: (input) =>
      input.policy.affinity === undefined ? nothing() : affinityCandidates(input, input.policy.affinity),
    reached:
      () =>
      (move, _, { name }) =>
        movedAway(move, name),
  },
  badService: {
    candidates: (input) =>
      input.policy.badService === undefined ? nothing() : badServiceCandidates(input, input.policy.badService),
    reached:
      () =>
      (move, _, { name }) =>
        movedAway(move, name),
  },
  underused: {
    candidates: (input) =>
      input.policy.underused === undefined ? nothing() : underusedCandidates(input, input.policy.underused),
    reached: (cluster, { underused }) => {
      if (underused === undefined) return ({ expected }) => expected;
      const yardstick = yardstickOf(cluster, underused);
      return (move, placed, node) => reachedGain(yardstick, move, [placed, cluster.byName.get(move.from), node]);
    },
  },
};
