import type { Because } from '#shared/domain/base/because.ts';
import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import {
  excess,
  gainLost,
  isLow,
  lowNodes,
  moveGain,
  relief,
  towardsMean,
  whyFilled,
  whyOver,
  type Yardstick,
  yardstickOf,
} from '#shared/domain/rescheduling/load.ts';
import type { PastMove, ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import type { OverTarget } from '#shared/domain/rescheduling/pass.ts';
import type { PassCluster, PassNode } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { UnderusedPolicy } from '#shared/domain/rescheduling/policy.ts';
import type { MovablePod } from '#shared/domain/rescheduling/running-pod.ts';
import { type PolicyInput, SHORT_AVOID_MS, type MoveCandidate, type CandidateGroup } from './move-candidate.ts';

/** Consecutive readings above the target after which a node's usage counts. */
const READINGS = 3;
/** The same for a node this close to its target: usage fluctuates, so a node at its target is sometimes above it. */
const READINGS_NEAR = 8;
const NEAR = 0.02;
/**
 * Readings after which a node needs more evidence. Among many readings, one shows enough gain just because usage
 * fluctuates; so from then on a move must gain enough even if the node used that much less. Without this, moves would
 * never end.
 */
const READINGS_SETTLED = READINGS_NEAR + READINGS;
const WAVER = 0.05;

/**
 * Points in addition to the minimum gain for a move off a node below its target: such moves even out nodes that moves
 * for rules and preferences have filled, so few of them are worth an eviction.
 */
const FILLED_GAIN = 2;

/** Pods of nodes above `target`, while some node is below `low`, one group per node; then pods of filled nodes. */
export function* underusedCandidates(input: PolicyInput, underused: UnderusedPolicy): Steps<readonly CandidateGroup[]> {
  const { cluster, memory } = input;
  const yardstick = yardstickOf(cluster, underused);
  const open = cluster.nodes.filter((node) => node.closed === undefined && isMeasured(node, underused));
  if (pauseReason(open, yardstick, input) !== undefined) return [];
  const leastGain = underused.gain ?? input.restraint.gain;
  const isForFilled = underused.by === 'Requests' && open.some((node) => isLow(yardstick, node));
  const filled = isForFilled ? filledByRules(memory) : NO_NODES;
  const mean = towardsMean(yardstick, open);
  const groups: CandidateGroup[] = [];
  for (const node of open) {
    if (excess(yardstick, node) > 0) {
      if (whyEarly(node, yardstick, memory) !== undefined) continue;
      const waver = isSettled(node, yardstick, memory) ? WAVER : 0;
      groups.push(groupOf(input, underused, { yardstick, node, leastGain, waver, isFilled: false }));
    } else if (filled.has(node.name)) {
      const source = { yardstick: mean, node, leastGain: leastGain + FILLED_GAIN, waver: 0, isFilled: true };
      groups.push(groupOf(input, underused, source));
    }
    yield;
  }
  return groups;
}

const NO_NODES: ReadonlySet<string> = new Set();

/** Nodes with replacements of pods that were moved for rules and preferences. */
function filledByRules({ owners }: ReschedulingMemory): ReadonlySet<string> {
  const moves = [...owners.values()].flatMap((owner) => owner.moves).filter(({ policy }) => policy === 'affinity');
  return new Set(moves.flatMap(({ replacement }) => replacement?.node ?? []));
}

/** The nodes that are still above their target after the planned moves, the fullest first. */
export function* nodesOverTarget({ cluster, policy, memory }: OverTargetInput): Steps<readonly OverTarget[]> {
  const { underused } = policy;
  if (underused === undefined) return [];
  const yardstick = yardstickOf(cluster, underused);
  const open = cluster.nodes.filter((node) => node.closed === undefined && isMeasured(node, underused));
  const notNow = pauseReason(open, yardstick, { cluster, memory });
  const over = open.map((node) => ({ node, above: excess(yardstick, node) })).filter(({ above }) => above > 0);
  yield;
  return yield* collectInSteps(
    over.toSorted((a, b) => b.above - a.above),
    ({ node }) => ({
      node: node.name,
      because: whyOver(yardstick, node),
      held: whyEarly(node, yardstick, memory) ?? notNow,
    }),
  );
}

type OverTargetInput = Pick<PolicyInput, 'cluster' | 'policy' | 'memory'>;

/** By usage a node counts only after some readings. */
function whyEarly(node: PassNode, yardstick: Yardstick, { hotReadings }: ReschedulingMemory): Because | undefined {
  if (yardstick.by !== 'usage') return undefined;
  const readings = hotReadings.get(node.name) ?? 0;
  const needed = excess(yardstick, node) < NEAR ? READINGS_NEAR : READINGS;
  return readings < needed ? REASONS.fewReadings({ readings, needed }) : undefined;
}

/** Whether the node was above its target for so long that it needs more evidence. */
function isSettled({ name }: PassNode, { by }: Yardstick, { hotReadings }: ReschedulingMemory): boolean {
  return by === 'usage' && (hotReadings.get(name) ?? 0) >= READINGS_SETTLED;
}

/** How long after a move for an even load others may follow, although its replacement has filled the last low node. */
const BEGUN_MS = 3_600_000;

/**
 * Why no pods are moved off nodes now. A low node starts moves, which continue until no node is above its target. By
 * usage they do not continue, and a node that is low in one reading may not be low in the next.
 */
function pauseReason(
  open: readonly PassNode[],
  yardstick: Yardstick,
  { cluster: { now }, memory: { owners, lowReadings } }: Pick<PolicyInput, 'cluster' | 'memory'>,
): Because | undefined {
  const isAnyLow = lowNodes(yardstick, open).length > 0;
  if (yardstick.by === 'requests') {
    const isRecent = ({ policy, at }: PastMove): boolean => policy === 'underused' && at > now - BEGUN_MS;
    const hasBegun = !isAnyLow && [...owners.values()].some(({ moves }) => moves.some(isRecent));
    return isAnyLow || hasBegun ? undefined : REASONS.noNodeIsLow({});
  }
  if (!isAnyLow) return REASONS.noNodeIsLow({});
  return lowReadings < READINGS ? REASONS.fewLowReadings({ readings: lowReadings, needed: READINGS }) : undefined;
}

type Readings = Pick<ReschedulingMemory, 'hotReadings' | 'lowReadings'>;

const NO_READINGS: Readings = { hotReadings: new Map(), lowReadings: 0 };

/** For how many consecutive readings nodes were above their target, and some node was low; none by requests. */
export function countReadings(
  before: Readings,
  cluster: PassCluster,
  underused: UnderusedPolicy | undefined,
): Readings {
  if (underused?.by !== 'Usage') return NO_READINGS;
  const yardstick = yardstickOf(cluster, underused);
  const measured = cluster.nodes.filter((node) => isMeasured(node, underused));
  const hot = measured.filter((node) => excess(yardstick, node) > 0);
  const count = ({ name }: PassNode) => Math.min(READINGS_SETTLED, (before.hotReadings.get(name) ?? 0) + 1);
  const isAnyLow = measured.some((node) => node.closed === undefined && isLow(yardstick, node));
  return {
    hotReadings: new Map(hot.map((node) => [node.name, count(node)])),
    lowReadings: isAnyLow ? Math.min(READINGS, before.lowReadings + 1) : 0,
  };
}

function isMeasured({ used }: PassNode, { by }: UnderusedPolicy): boolean {
  return by === 'Requests' || used !== undefined;
}

interface SourceNode {
  readonly yardstick: Yardstick;
  readonly node: PassNode;
  readonly leastGain: number;
  /** How much less than measured it may use, as a share. */
  readonly waver: number;
  /** Nodes filled by moves for rules and preferences, and not above their target. */
  readonly isFilled: boolean;
}

function groupOf(input: PolicyInput, underused: UnderusedPolicy, source: SourceNode): CandidateGroup {
  const { yardstick, node, isFilled } = source;
  const candidates = (): readonly MoveCandidate[] =>
    node.entry.occupancy.pods.flatMap((placed) => {
      const movable = input.movable(placed, node);
      if (movable?.kind === 'stays' && !isFilled) input.onStay?.(placed, node, movable.because);
      return movable?.kind === 'movable' ? [candidateOf(underused, source, movable.pod)] : [];
    });
  const urgency = (): number => {
    const over = excess(yardstick, node);
    return over <= 0 ? 0 : over + (isFilled ? 0 : ABOVE_TARGET);
  };
  return { candidates, urgency };
}

/** Makes a node above its target more urgent than any that is only filled. */
const ABOVE_TARGET = 1;

function candidateOf(underused: UnderusedPolicy, source: SourceNode, pod: MovablePod): MoveCandidate {
  const { yardstick, node, isFilled } = source;
  return {
    policy: 'underused',
    pod,
    because: isFilled ? whyFilled(yardstick, node) : whyOver(yardstick, node),
    worth: () => relief(yardstick, node, pod.placed),
    // The gain for a node without a measurement is unknown.
    gainOn: (target) => (isMeasured(target, underused) ? moveGain(yardstick, pod.placed, [node, target]) : 0),
    leastGain: source.leastGain + gainLost(yardstick, node, pod.placed, source.waver),
    reasonAgainst: () => undefined,
    avoidForMs: SHORT_AVOID_MS,
    isOptional: isFilled,
  };
}
