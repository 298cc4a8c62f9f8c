import { podName } from '#shared/domain/base/texts.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { countReasons, type ReasonCounts, reasonsText } from '#shared/domain/placement/trial/examine-nodes.ts';
import { findSocialPods, interPodScores } from './inter-pod-scores.ts';
import { REASONS } from './messages.ts';
import { type PassCluster, type PassNode, scoredAmounts, type Sums, sumsWithout } from './pass-cluster.ts';
import { createNamespaceViews, type PodAwareFit, podAwareFit, relatedMove } from './pod-aware-fit.ts';
import type { MovablePod } from './running-pod.ts';
import { type PodDemand, normalizedScore, rawScores, rawSpread, resourceScore } from './scheduler-scores.ts';
import { type Arrival, spreadScores } from './spread-scores.ts';
import { createStaticFits, type StaticFit } from './static-fit.ts';

/** Where kube-scheduler would place the replacement of a pod. */
export type PlacementGuess =
  /** One of these nodes; if there are several, they score equally, or a sample of the nodes decides. */
  | { readonly kind: 'placed'; readonly nodes: readonly PassNode[] }
  | { readonly kind: 'unplaced'; readonly because: Because };

/** The input of a guess; prepared once per pass. */
export interface Guesser {
  readonly cluster: PassCluster;
  /** The planned moves of the pass so far. */
  readonly arrivals: readonly Arrival[];
  readonly guess: (pod: MovablePod, avoided: ReadonlySet<string>) => Steps<PlacementGuess>;
}

/** Prepares guesses on a cluster; `arrivals` may grow afterwards. */
export function* createGuesser(cluster: PassCluster, arrivals: readonly Arrival[]): Steps<Guesser> {
  const staticFitOf = createStaticFits(cluster.nodes);
  const social = yield* findSocialPods(cluster);
  const views = createNamespaceViews(cluster.snapshot);
  function* guess(pod: MovablePod, avoided: ReadonlySet<string>): Steps<PlacementGuess> {
    const related = relatedMove(cluster.snapshot, pod.placed, arrivals);
    if (related !== undefined) return unplaced(REASONS.relatedMove({ pod: podName(related.placed.pod) }));
    const question: Question = {
      pod,
      avoided,
      demand: { row: pod.placed.row, scored: scoredAmounts(pod.placed) },
      fit: staticFitOf(pod.placed.pod),
      sumsOf: sumsFor(pod),
      podAware: yield* podAwareFit(cluster.snapshot, views, pod.placed),
    };
    yield;
    const feasible = feasibleNodes(cluster, question);
    if (feasible.length === 0) return unplaced(fitsNowhere(cluster, question));
    yield;
    const interPod = yield* interPodScores(cluster, social, pod.placed.pod);
    return { kind: 'placed', nodes: bestOf(cluster, feasible, { ...question, arrivals, interPod }) };
  }
  return { cluster, arrivals, guess };
}

interface Question {
  readonly pod: MovablePod;
  /** Nodes with an avoid entry for the owner, including its current node. */
  readonly avoided: ReadonlySet<string>;
  readonly demand: PodDemand;
  readonly fit: StaticFit;
  readonly sumsOf: (node: PassNode) => Sums;
  readonly podAware: PodAwareFit | undefined;
}

/** A StatefulSet creates the replacement once the old pod is gone, other controllers as soon as it terminates. */
function isReplacedOnceGone({ owner }: MovablePod): boolean {
  return owner.key.kind === 'StatefulSet';
}

/** The usage of the nodes when the replacement is placed. */
function sumsFor(pod: MovablePod): Question['sumsOf'] {
  if (!isReplacedOnceGone(pod)) return ({ held }) => held;
  const { node, placed } = pod;
  const source = sumsWithout(node.later, placed);
  return (other) => (other === node ? source : other.later);
}

function unplaced(because: Because): PlacementGuess {
  return { kind: 'unplaced', because };
}

const NO_MATCH: readonly string[] = ["node(s) didn't match its rules"];
const NO_ROOM: readonly string[] = ['Insufficient resources'];

/** Why the pod does not fit on a node; `undefined` if it does. */
function reasonsAgainst(node: PassNode, question: Question): readonly string[] | undefined {
  if (question.fit.fits[node.index] !== 1) return NO_MATCH;
  return hasRoom(node, question) ? question.podAware?.(node)?.reasons : NO_ROOM;
}

function feasibleNodes({ nodes }: PassCluster, question: Question): readonly PassNode[] {
  return nodes.filter((node) => reasonsAgainst(node, question) === undefined);
}

function hasRoom(node: PassNode, { pod, sumsOf, demand: { row } }: Question): boolean {
  if (node.freeSlots + (node === pod.node && isReplacedOnceGone(pod) ? 1 : 0) < 1) return false;
  const { capacity } = node;
  const sums = sumsOf(node);
  for (let column = 0; column < row.length; column += 1) {
    const amount = Number(row[column]);
    if (amount > 0 && (sums.row[column] ?? 0) + amount > (capacity[column] ?? 0)) return false;
  }
  return true;
}

function fitsNowhere({ nodes }: PassCluster, question: Question): Because {
  const counts: ReasonCounts = new Map();
  const found = nodes.map((node) => reasonsAgainst(node, question)).filter((reasons) => reasons !== undefined);
  for (const reasons of found) countReasons(counts, reasons);
  return REASONS.fitsNowhere({ reasons: reasonsText(nodes.length, counts) });
}

/** A soft avoid entry is a preferred node affinity of this weight (`shared/kube/admission/pod-patches.ts`). */
const AVOID_WEIGHT = 100;

interface ScoredQuestion extends Question {
  readonly arrivals: readonly Arrival[];
  readonly interPod: Float64Array | undefined;
}

/** The nodes with the highest score; in a large cluster, as many as may be the best of a random sample. */
function bestOf(cluster: PassCluster, feasible: readonly PassNode[], question: ScoredQuestion): readonly PassNode[] {
  const { pod, fit, demand, arrivals, interPod, sumsOf } = question;
  const raw = (values: Float64Array | undefined) => (values === undefined ? undefined : rawScores(values, feasible));
  const spread = spreadScores(cluster, pod, feasible, arrivals);
  const plugins = {
    taints: raw(fit.untolerated),
    nodeAffinity: raw(preferences(cluster, question)),
    spread: spread === undefined ? undefined : rawSpread(spread, feasible),
    interPod: raw(interPod),
  };
  const scores = feasible.map(
    (node) => resourceScore(node, sumsOf(node), demand) + normalizedScore(plugins, node.index),
  );
  const least = cutOff(scores, bestPlaces(cluster.nodes.length, feasible.length));
  return feasible.filter((_, at) => (scores[at] as number) >= least);
}

function preferences({ nodes }: PassCluster, { avoided, fit }: Question): Float64Array | undefined {
  if (avoided.size === 0) return fit.preference;
  return Float64Array.from(
    nodes,
    ({ index, name }) => (fit.preference?.[index] ?? 0) + (avoided.has(name) ? 0 : AVOID_WEIGHT),
  );
}

const ALL_SCORED = 100;

/**
 * How many of the best nodes may be chosen: kube-scheduler scores only some of the feasible nodes of a large cluster,
 * so the best one is often left out. `pkg/scheduler/schedule_one.go` numFeasibleNodesToFind.
 */
function bestPlaces(nodes: number, feasible: number): number {
  if (nodes <= ALL_SCORED) return 1;
  const percentage = Math.max(5, 50 - Math.floor(nodes / 125));
  const sample = Math.max(ALL_SCORED, Math.floor((nodes * percentage) / 100));
  return feasible <= sample ? 1 : Math.ceil((2 * feasible) / sample);
}

function cutOff(scores: readonly number[], places: number): number {
  if (places === 1) return scores.reduce((most, score) => Math.max(most, score), -Infinity);
  const sorted = Float64Array.from(scores).sort();
  return sorted[Math.max(0, sorted.length - places)] as number;
}
