import type { Steps } from '#shared/domain/model/steps.ts';
import { createGuesser } from './guess-placement.ts';
import { unevenness } from './load.ts';
import { rememberMoves, settleMoves } from './memory.ts';
import type { Pass, PassInput, ReschedulingResult } from './pass.ts';
import { failureOf } from './policies/failing-pod.ts';
import { ownersToKeepAway } from './policies/refused-pods.ts';
import { countReadings, nodesOverTarget } from './policies/underused.ts';
import type { PolicyInput } from './policies/wish.ts';
import { POLICIES } from './policy-table.ts';
import { POLICY_KINDS, RESTRAINTS } from './policy.ts';
import { openAccount } from './restraint.ts';
import { isMovable, runningPod, runsOn } from './running-pod.ts';
import { servePolicy } from './serve-policy.ts';
import type { Arrival } from './spread-scores.ts';

/** Plans one pass. The cluster is changed as if the moves were made; each is planned on what the earlier ones leave. */
export function* planPass(input: PassInput): Steps<ReschedulingResult> {
  const { cluster, policy } = input;
  const before = unevenness(cluster);
  yield;
  const settled = settleMoves(input.memory, cluster, {
    reachedBy: (kind) => POLICIES[kind].reached(cluster, policy),
    isFailing: (placed) => failureOf(placed, policy.badService, cluster.measurements) !== undefined,
  });
  const memory = { ...settled, ...countReadings(settled, cluster, policy.underused) };
  const restraint = RESTRAINTS[policy.aggressiveness];
  const arrivals: Arrival[] = [];
  const pass: Pass = {
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
  for (const kind of POLICY_KINDS) yield* servePolicy(pass, kind, yield* POLICIES[kind].wishes(asked));
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

function movableIn(pass: Pass): Pick<PolicyInput, 'movable' | 'isMovable'> {
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
  };
}
