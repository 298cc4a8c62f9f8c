import { decodePodStats } from '#shared/kube/decode/decode-summary.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { compareCandidates } from '#test/build/compare-candidates.ts';
import { diskLayout } from '#test/conformance/kubelet/disk-layout.ts';
import { isThresholdSignal, resourceOf } from '#shared/domain/pressure/signal.ts';
import { type Candidate, prepareCandidate, rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { usageByUid } from '#shared/domain/ranking/pod-usage.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { type RankingOrder, kubeletOrder } from '#shared/domain/ranking/ranking-order.ts';
import { type WireObject, readBoolean, readList, readText } from '#shared/kube/decode/wire-object.ts';
import { asIs, readCase, required } from '#test/conformance/required.ts';

/** Kind `ranking`: the kubelet's order of eviction, pods that tie in one group. */
export function answer(raw: unknown): unknown {
  const vector = readCase(raw, readVector);
  const { signal } = vector;
  if (!isThresholdSignal(signal))
    throw new Error(`cannot read the case: signal: expected one of the kubelet's, got "${signal}"`);
  const order = kubeletOrder(resourceOf(signal));
  const against = { signal, layout: diskLayout(vector.imageFs, vector.splitFs) };
  const usage = usageByUid(vector.stats.map((stats) => required(decodePodStats(stats))));
  const pods = vector.pods.map((pod) => required(decodePod(pod)));
  const candidates = pods.map((pod) => prepareCandidate(rankingFacts(pod), usage.get(pod.uid), against));
  return { want: groupTies(rankPods(candidates, order), order).map((group) => group.map(keyOf).sort()) };
}

function readVector(vector: WireObject) {
  return {
    signal: readText(vector, 'signal') ?? '',
    imageFs: readBoolean(vector, 'imageFs'),
    splitFs: readBoolean(vector, 'splitFs'),
    pods: readList(vector, 'pods', asIs),
    stats: readList(vector, 'stats', asIs),
  };
}

function groupTies(ranked: readonly Candidate[], order: RankingOrder): readonly (readonly Candidate[])[] {
  const groups: Candidate[][] = [];
  for (const candidate of ranked) {
    const group = groups.at(-1);
    const isTie = group?.[0] !== undefined && compareCandidates(group[0], candidate, order) === 0;
    if (isTie) group.push(candidate);
    else groups.push([candidate]);
  }
  return groups;
}

function keyOf({ facts }: Candidate): string {
  return `${facts.pod.namespace}/${facts.pod.name}`;
}
