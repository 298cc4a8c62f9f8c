import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { type AffinityTerm, selectsPod, sharedTerms } from '#shared/domain/pod/affinity-term.ts';
import type { Pod, WeightedPodTerm } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { TRAITS } from '#shared/domain/snapshot/placed-pod.ts';
import { type PassCluster, type PassNode, podsWith } from './pass-cluster.ts';

/** A pod whose own terms attract or repel others, and its node. */
interface SocialPod {
  readonly pod: Pod;
  readonly node: PassNode;
}

/** Finds the pods whose terms count in the scores of others. */
export function* findSocialPods({ nodes }: PassCluster): Steps<readonly SocialPod[]> {
  const found: SocialPod[] = [];
  for (const node of nodes) {
    for (const { pod } of podsWith(node, TRAITS.attracts)) found.push({ pod, node });
    yield;
  }
  return found;
}

/** `plugins/interpodaffinity`, HardPodAffinityWeight. */
const REQUIRED_WEIGHT = 1;

/** By topology key and value. */
type ScoreSums = Map<string, Map<string, number>>;

/**
 * InterPodAffinity as raw scores by node index; `undefined` if no term applies. `plugins/interpodaffinity/scoring.go`.
 */
export function* interPodScores(
  cluster: PassCluster,
  social: readonly SocialPod[],
  pod: Pod,
): Steps<Float64Array | undefined> {
  const sums: ScoreSums = new Map();
  yield* countOwnTerms(cluster, pod, sums);
  yield* countTermsOfOthers(cluster.snapshot, social, { pod, sums });
  if (sums.size === 0) return undefined;
  return Float64Array.from(cluster.nodes, ({ entry }) => sumOn(sums, entry.node.labels));
}

function sumOn(sums: ScoreSums, labels: ReadonlyMap<string, string>): number {
  let sum = 0;
  for (const [key, values] of sums) {
    const value = labels.get(key);
    if (value !== undefined) sum += values.get(value) ?? 0;
  }
  return sum;
}

function* countOwnTerms({ nodes, snapshot }: PassCluster, pod: Pod, sums: ScoreSums): Steps<void> {
  const terms = weighted(pod, pod.spec.scheduling.preferredPodTerms);
  if (terms.length === 0) return;
  for (const { entry } of nodes) {
    for (const { pod: other } of entry.occupancy.pods) countSelected(terms, other, { snapshot, entry, sums });
    yield;
  }
}

function countSelected(
  terms: readonly Weighted[],
  other: Pod,
  { snapshot, entry, sums }: Pick<PassCluster, 'snapshot'> & Pick<PassNode, 'entry'> & { readonly sums: ScoreSums },
): void {
  const labels = snapshot.namespaces.get(other.namespace) ?? NO_LABELS;
  for (const each of terms) if (selectsPod(each.term, other, labels)) add(sums, each, entry.node.labels);
}

const PODS_PER_STEP = 200;

function* countTermsOfOthers(
  { namespaces }: ClusterSnapshot,
  social: readonly SocialPod[],
  { pod, sums }: { readonly pod: Pod; readonly sums: ScoreSums },
): Steps<void> {
  const labels = namespaces.get(pod.namespace) ?? NO_LABELS;
  for (const [at, other] of social.entries()) {
    for (const each of termsOf(other.pod)) {
      if (selectsPod(each.term, pod, labels)) add(sums, each, other.node.entry.node.labels);
    }
    if (at % PODS_PER_STEP === 0) yield;
  }
}

interface Weighted {
  readonly term: AffinityTerm;
  readonly weight: number;
}

function termsOf(pod: Pod): readonly Weighted[] {
  const { podAffinity, preferredPodTerms } = pod.spec.scheduling;
  const required = sharedTerms(pod, podAffinity).map((term) => ({ term, weight: REQUIRED_WEIGHT }));
  return [...required, ...weighted(pod, preferredPodTerms)];
}

function weighted(pod: Pod, terms: readonly WeightedPodTerm[]): readonly Weighted[] {
  const prepared = sharedTerms(pod, terms);
  return terms.map(({ weight }, index) => ({ term: prepared[index] as AffinityTerm, weight }));
}

function add(sums: ScoreSums, { term, weight }: Weighted, labels: ReadonlyMap<string, string>): void {
  const value = labels.get(term.topologyKey);
  if (value === undefined) return;
  const ofKey = sums.get(term.topologyKey) ?? new Map<string, number>();
  sums.set(term.topologyKey, ofKey.set(value, (ofKey.get(value) ?? 0) + weight));
}
