import { HOUR_MS, SECOND_MS } from '#shared/domain/base/durations.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { nodeOf, type PassCluster, type PassNode } from './pass-cluster.ts';
import type { PolicyKind } from './policy.ts';

/*
 * What the rescheduler remembers about its moves: where each replacement went, whether the move was worth it, and which
 * owners it leaves alone because kube-scheduler disagrees with it. Without this memory a wrong rescheduler would never
 * stop.
 */

/** How long an owner is left alone, and how long a move is remembered. */
export const STOP_MS = 24 * HOUR_MS;
/** Maximum number of remembered moves per owner, and of owners: the newest ones. */
const MAX_MOVES = 32;
const MAX_OWNERS = 5_000;
const RETURNS_TO_STOP = 2;
const MISSES_TO_STOP = 3;
const MISSED_PASSES = 3;
/** A move that gains less than this share of what was expected is a miss. */
const REACHED_SHARE = 0.5;
const LEAST_RATE = 1 / 16;

/** The failure count of a pod when another pod was moved for it. */
export interface Harm {
  readonly uid: string;
  readonly kind: 'restarts' | 'oomKills' | 'stalls';
  readonly count: number;
}

/** A completed move. */
export interface PastMove {
  readonly uid: string;
  readonly policy: PolicyKind;
  readonly from: string;
  /** The expected node of the replacement. */
  readonly expectedOn: string;
  readonly at: Instant;
  readonly expected: number;
  /** Load of the source before the move, as a share by column. */
  readonly sourceLoad: readonly number[];
  /** The number of pods that the owner had. */
  readonly replicas: number;
  /** For a pod that was moved because it harmed others. */
  readonly harmed?: readonly Harm[] | undefined;
  /** The replacement and its node, once it is placed. */
  readonly replacement: { readonly uid: string; readonly node: string; readonly reached: number } | undefined;
}

export interface OwnerMemory {
  /** Oldest first. */
  readonly moves: readonly PastMove[];
  readonly stop: OwnerStop | undefined;
}

/** An owner that is left alone, and why. */
export interface OwnerStop {
  readonly until: Instant;
  readonly text: string;
  /** Nodes that its replacements returned to, or that brought no gain. */
  readonly nodes: readonly string[];
}

export interface PolicyMemory {
  /** Consecutive passes that missed their gain. */
  readonly missed: number;
  /** Share of the allowed moves that the policy may make. */
  readonly rate: number;
  readonly expected: number;
  readonly reached: number;
}

export interface ReschedulingMemory {
  readonly owners: ReadonlyMap<string, OwnerMemory>;
  readonly policies: ReadonlyMap<PolicyKind, PolicyMemory>;
  /** Consecutive readings in which a node's usage was above its target. */
  readonly hotReadings: ReadonlyMap<string, number>;
  /** Consecutive readings in which some node's usage was low. */
  readonly lowReadings: number;
}

export const NO_MEMORY: ReschedulingMemory = {
  owners: new Map(),
  policies: new Map(),
  hotReadings: new Map(),
  lowReadings: 0,
};
export const FRESH_POLICY: PolicyMemory = { missed: 0, rate: 1, expected: 0, reached: 0 };

/** What a replacement gained on its node, in the units of its policy. */
export type ReachedGain = (move: PastMove, replacement: PlacedPod, node: PassNode) => number;

/** How moves are evaluated. */
export interface Judgement {
  readonly reachedBy: (policy: PolicyKind) => ReachedGain;
  /** Whether a pod fails where it runs: then the move that created it brought no gain. */
  readonly isFailing: (placed: PlacedPod) => boolean;
}

/** The memory at the start of a pass: replacements are looked up, stops begin and end, old moves are dropped. */
export function resolveMoves(
  memory: ReschedulingMemory,
  cluster: PassCluster,
  judgement: Judgement,
): ReschedulingMemory {
  const owners = new Map<string, OwnerMemory>();
  const settled: PlacedMove[] = [];
  for (const [id, owner] of memory.owners) {
    const moves = resolveOwner(owner.moves, { cluster, pods: cluster.owners.podsOf(id), ...judgement });
    settled.push(...moves.filter(isPlaced).filter((move) => isOpen(owner.moves, move)));
    const kept = moves.filter(({ at }) => at > cluster.now - STOP_MS);
    const stop = runningStop(owner.stop, cluster.now) ?? stopFor(kept, owner.stop, cluster.now);
    if (kept.length > 0 || stop !== undefined) owners.set(id, { moves: kept, stop });
  }
  return { ...memory, owners, policies: judgePolicies(memory.policies, settled) };
}

/** A move whose replacement is placed. */
type PlacedMove = PastMove & { readonly replacement: NonNullable<PastMove['replacement']> };

function isPlaced(move: PastMove): move is PlacedMove {
  return move.replacement !== undefined;
}

function isOpen(before: readonly PastMove[], { uid }: PastMove): boolean {
  return before.some((move) => move.uid === uid && move.replacement === undefined);
}

interface MoveResolution extends Judgement {
  readonly cluster: PassCluster;
  /** Of the owner. */
  readonly pods: readonly PlacedPod[];
}

function resolveOwner(moves: readonly PastMove[], settling: MoveResolution): readonly PastMove[] {
  const taken = new Set(moves.filter(isPlaced).map(({ replacement }) => replacement.uid));
  return moves.map((move) => {
    if (move.replacement !== undefined) return judgedAnew(move, settling);
    const found = replacementOf(move, settling, taken);
    if (found === undefined) return move;
    taken.add(found.placed.pod.uid);
    const reached = settling.reachedBy(move.policy)(move, found.placed, found.node);
    return { ...move, replacement: { uid: found.placed.pod.uid, node: found.node.name, reached } };
  });
}

/** A replacement that fails too was not helped, no matter how late that shows. */
function judgedAnew(move: PastMove, { isFailing, pods }: MoveResolution): PastMove {
  const { replacement, policy } = move;
  if (policy !== 'badService' || replacement === undefined) return move;
  const placed = pods.find(({ pod }) => pod.uid === replacement.uid);
  if (placed === undefined || !isFailing(placed)) return move;
  return { ...move, replacement: { ...replacement, reached: 0 } };
}

/** The oldest pod of the owner that started after the move. Times in the API are whole seconds. */
function replacementOf({ at }: PastMove, { cluster, pods }: MoveResolution, taken: ReadonlySet<string>) {
  const since = Math.floor(at / SECOND_MS) * SECOND_MS;
  const young = pods.filter(
    ({ pod }) => pod.deletion === undefined && !taken.has(pod.uid) && (pod.status.startTime ?? cluster.now) >= since,
  );
  const found = young.map((placed) => ({ placed, node: nodeOf(cluster, placed) }));
  const startOf = ({ placed: { startedAt = Infinity } }: (typeof found)[number]): number => startedAt;
  return found.toSorted(
    (a, b) => startOf(a) - startOf(b) || a.node.index - b.node.index || a.placed.arrival - b.placed.arrival,
  )[0];
}

function runningStop(stop: OwnerStop | undefined, now: Instant): OwnerStop | undefined {
  return stop !== undefined && stop.until > now ? stop : undefined;
}

/** Two returns to a node from which the owner was moved, or three moves without gain, since the last stop ended (S3-43). */
function stopFor(moves: readonly PastMove[], last: OwnerStop | undefined, now: Instant): OwnerStop | undefined {
  const recent = moves.filter(isPlaced).filter(({ at }) => last === undefined || at > last.until);
  const returned = recent.filter((move) => isReturn(move, moves));
  const missed = recent.filter(({ replacement, expected }) => isMiss(replacement.reached, expected));
  const until = now + STOP_MS;
  if (returned.length >= RETURNS_TO_STOP) {
    const nodes = nodesOf(returned);
    return { until, nodes, text: `kube-scheduler returned ${returned.length} of its pods to ${nodes.join(', ')}` };
  }
  if (missed.length < MISSES_TO_STOP) return undefined;
  const nodes = nodesOf(missed);
  return { until, nodes, text: `${missed.length} moves brought less than half of their gain, on ${nodes.join(', ')}` };
}

function isReturn({ replacement, at }: PlacedMove, moves: readonly PastMove[]): boolean {
  return moves.some((other) => other.at <= at && other.from === replacement.node);
}

function isMiss(reached: number, expected: number): boolean {
  return reached < expected * REACHED_SHARE;
}

function nodesOf(moves: readonly PlacedMove[]): readonly string[] {
  return [...new Set(moves.map(({ replacement }) => replacement.node))];
}

function judgePolicies(
  before: ReschedulingMemory['policies'],
  settled: readonly PlacedMove[],
): ReschedulingMemory['policies'] {
  const policies = new Map(before);
  for (const [policy, moves] of Map.groupBy(settled, (move) => move.policy)) {
    policies.set(policy, judge(before.get(policy) ?? FRESH_POLICY, moves));
  }
  return policies;
}

/**
 * A policy that misses its gain in three consecutive passes makes half as many moves, and recovers in the same steps.
 */
function judge(before: PolicyMemory, moves: readonly PlacedMove[]): PolicyMemory {
  const expected = moves.reduce((sum, move) => sum + move.expected, 0);
  const reached = moves.reduce((sum, move) => sum + move.replacement.reached, 0);
  if (!isMiss(reached, expected)) return { missed: 0, rate: Math.min(1, before.rate * 2), expected, reached };
  const missed = before.missed + 1;
  const isSlowed = missed % MISSED_PASSES === 0;
  return { missed, rate: isSlowed ? Math.max(LEAST_RATE, before.rate / 2) : before.rate, expected, reached };
}

/** The memory after moves; the oldest entries are dropped. */
export function rememberMoves(
  memory: ReschedulingMemory,
  moves: readonly { readonly owner: string; readonly move: PastMove }[],
): ReschedulingMemory {
  const owners = new Map(memory.owners);
  for (const { owner, move } of moves) {
    const known = owners.get(owner) ?? { moves: [], stop: undefined };
    owners.delete(owner);
    owners.set(owner, { ...known, moves: [...known.moves, move].slice(-MAX_MOVES) });
  }
  const excess = Math.max(0, owners.size - MAX_OWNERS);
  for (const id of [...owners.keys()].slice(0, excess)) owners.delete(id);
  return { ...memory, owners };
}

/** Moves of an owner whose replacement is not placed; fewer if the owner was scaled down meanwhile. */
export function unplacedMoves(memory: OwnerMemory | undefined, present: number): number {
  const open = memory?.moves.filter(({ replacement, replicas }) => replacement === undefined && present < replicas);
  return open?.length ?? 0;
}

/** Nodes that an owner's pods were moved from. */
export function formerNodes(memory: OwnerMemory | undefined): ReadonlySet<string> {
  return new Set(memory?.moves.map(({ from }) => from));
}
