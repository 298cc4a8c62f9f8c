import type { Whole } from '#shared/domain/quantity/whole.ts';
import { CPU, MEMORY, type PassNode, type Sums } from './pass-cluster.ts';

/*
 * An estimate of kube-scheduler's scores with its default profile. Images and volumes are unknown, so their plugins are
 * left out; they make no difference if all nodes have the images. `pkg/scheduler/apis/config/v1/default_plugins.go`.
 */

const MAX_SCORE = 100;
const WEIGHTS = { taints: 3, nodeAffinity: 2, spread: 2, interPod: 2 } as const;

/** What a pod would add to a node, as counted by the filters and by the scores. */
export interface PodDemand {
  readonly row: readonly Whole[];
  readonly scored: readonly [cpu: number, memory: number];
}

/** LeastAllocated and BalancedAllocation, weight 1 each. `plugins/noderesources`. */
export function resourceScore({ capacity }: PassNode, sums: Sums, { row, scored }: PodDemand): number {
  const cpu = capacity[CPU] as number;
  const memory = capacity[MEMORY] as number;
  const least = leastAllocated(
    free((sums.scored[CPU] as number) + scored[CPU], cpu),
    free((sums.scored[MEMORY] as number) + scored[MEMORY], memory),
  );
  const ofCpu = Number(row[CPU] ?? 0);
  const ofMemory = Number(row[MEMORY] ?? 0);
  if (ofCpu === 0 && ofMemory === 0) return least;
  const before = balance((sums.row[CPU] as number) / cpu, (sums.row[MEMORY] as number) / memory);
  const after = balance(((sums.row[CPU] as number) + ofCpu) / cpu, ((sums.row[MEMORY] as number) + ofMemory) / memory);
  return least + MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + after - before) / 2);
}

function leastAllocated(cpu: number | undefined, memory: number | undefined): number {
  const known = [cpu, memory].filter((each) => each !== undefined);
  return known.length === 0 ? 0 : Math.trunc(known.reduce((sum, each) => sum + each, 0) / known.length);
}

function free(requested: number, capacity: number): number | undefined {
  if (capacity === 0) return undefined;
  return requested > capacity ? 0 : Math.trunc(((capacity - requested) * MAX_SCORE) / capacity);
}

function balance(cpu: number, memory: number): number {
  if (!Number.isFinite(cpu) || !Number.isFinite(memory)) return MAX_SCORE;
  return Math.trunc((1 - Math.abs(Math.min(1, cpu) - Math.min(1, memory)) / 2) * MAX_SCORE);
}

/** Raw scores of the feasible nodes by node index, and their extremes. */
export interface RawScores {
  readonly values: Float64Array;
  readonly min: number;
  readonly max: number;
}

/** Finds the extremes over some nodes. */
export function rawScores(values: Float64Array, feasible: readonly PassNode[]): RawScores {
  let min = Infinity;
  let max = -Infinity;
  for (const { index } of feasible) {
    const value = values[index] as number;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { values, min, max };
}

/** The same for a spread, whose extremes leave out the nodes that it ignores: their raw score is negative. */
export function rawSpread(values: Float64Array, feasible: readonly PassNode[]): RawScores {
  return rawScores(
    values,
    feasible.filter(({ index }) => (values[index] as number) >= 0),
  );
}

/** The plugins that normalize over the feasible nodes; `undefined` for one that does not apply. */
export interface NormalizedPlugins {
  readonly taints: RawScores | undefined;
  readonly nodeAffinity: RawScores | undefined;
  readonly spread: RawScores | undefined;
  readonly interPod: RawScores | undefined;
}

/** Their weighted score for one node. */
export function normalizedScore({ taints, nodeAffinity, spread, interPod }: NormalizedPlugins, index: number): number {
  return (
    WEIGHTS.taints * (taints === undefined ? MAX_SCORE : MAX_SCORE - shareOfMax(taints, index)) +
    WEIGHTS.nodeAffinity * (nodeAffinity === undefined ? 0 : shareOfMax(nodeAffinity, index)) +
    WEIGHTS.spread * (spread === undefined ? 0 : reversed(spread, index)) +
    WEIGHTS.interPod * (interPod === undefined ? 0 : betweenExtremes(interPod, index))
  );
}

/** `plugins/helper/normalize_score.go` DefaultNormalizeScore. */
function shareOfMax({ values, max }: RawScores, index: number): number {
  return max === 0 ? 0 : Math.trunc((MAX_SCORE * (values[index] as number)) / max);
}

/** `plugins/podtopologyspread/scoring.go` NormalizeScore; ignored nodes have a negative raw score. */
function reversed({ values, min, max }: RawScores, index: number): number {
  const value = values[index] as number;
  if (value < 0) return 0;
  return max === 0 ? MAX_SCORE : Math.trunc((MAX_SCORE * (max + min - value)) / max);
}

/** `plugins/interpodaffinity/scoring.go` NormalizeScore, which divides first: 29 of 100 are 28 there. */
function betweenExtremes({ values, min, max }: RawScores, index: number): number {
  return max > min ? Math.trunc(MAX_SCORE * (((values[index] as number) - min) / (max - min))) : 0;
}
