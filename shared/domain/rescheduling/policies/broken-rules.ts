import type { Because } from '#shared/domain/model/because.ts';
import { memoize } from '#shared/domain/model/memoize.ts';
import { type AffinityTerm, selectsPod } from '#shared/domain/pod/affinity-term.ts';
import type { Pod, SchedulingRules, TopologySpreadConstraint } from '#shared/domain/pod/pod.ts';
import { NO_LABELS } from '#shared/domain/preemption/filters/incoming-terms.ts';
import { wantedNodes } from '#shared/domain/preemption/filters/node-filters.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import type { PassCluster, PassNode } from '#shared/domain/rescheduling/pass-cluster.ts';
import { matcherOf } from '#shared/domain/rescheduling/spread-scores.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/** Why the rules of a pod are broken where it runs; `undefined` where they are kept. */
export type RuleCheck = (placed: PlacedPod, node: PassNode) => Because | undefined;

const HOSTNAME = 'kubernetes.io/hostname';

/** Node selectors and required node affinity, asked once for all pods of a template on a node. */
export function nodeAffinityCheck(): RuleCheck {
  const byRules = new Map<SchedulingRules, (node: PassNode) => boolean>();
  return ({ pod }, node) => {
    const rules = pod.spec.scheduling;
    if (rules.nodeAffinity === undefined && rules.nodeSelector.size === 0) return undefined;
    const isWanted = byRules.get(rules) ?? memoize(wantsNode(pod));
    byRules.set(rules, isWanted);
    return isWanted(node) ? undefined : REASONS.requiredBroken({ node: node.name });
  };
}

function wantsNode(pod: Pod): (node: PassNode) => boolean {
  const isWanted = wantedNodes(pod);
  return ({ entry }) => isWanted(entry.node);
}

/** Required anti-affinity of the pod itself: another pod of the domain is one that it must not run next to. */
export function antiAffinityCheck(cluster: PassCluster): RuleCheck {
  const nodesIn = nodesByDomain(cluster);
  const isSelected = selectedByTerms(cluster);
  return (placed, node) => {
    for (const term of placed.antiAffinity) {
      const value = node.entry.node.labels.get(term.topologyKey);
      if (value === undefined) continue;
      const domain = term.topologyKey === HOSTNAME ? [node] : nodesIn(term.topologyKey, value);
      const other = findOther(domain, placed, (pod) => isSelected(term, pod));
      if (other !== undefined) return REASONS.antiAffinityBroken({ node: node.name, other });
    }
    return undefined;
  };
}

function findOther(
  domain: readonly PassNode[],
  placed: PlacedPod,
  isSelected: (pod: Pod) => boolean,
): string | undefined {
  for (const { entry } of domain) {
    const found = entry.occupancy.pods.find(
      (other) => other !== placed && other.pod.deletion === undefined && isSelected(other.pod),
    );
    if (found !== undefined) return `${found.pod.namespace}/${found.pod.name}`;
  }
  return undefined;
}

/** Pods of a template share their labels, so each term is compared with each template once. */
function selectedByTerms({ snapshot }: PassCluster): (term: AffinityTerm, pod: Pod) => boolean {
  const byTerm = new Map<AffinityTerm, Map<string, Map<Pod['labels'], boolean>>>();
  return (term, pod) => {
    const ofTerm = byTerm.get(term) ?? new Map<string, Map<Pod['labels'], boolean>>();
    byTerm.set(term, ofTerm);
    const known = ofTerm.get(pod.namespace) ?? new Map<Pod['labels'], boolean>();
    ofTerm.set(pod.namespace, known);
    const answer = known.get(pod.labels) ?? selectsPod(term, pod, snapshot.namespaces.get(pod.namespace) ?? NO_LABELS);
    known.set(pod.labels, answer);
    return answer;
  };
}

function nodesByDomain({ nodes }: PassCluster): (key: string, value: string) => readonly PassNode[] {
  const byKey = memoize((key: string) => Map.groupBy(nodes, ({ entry }) => entry.node.labels.get(key)));
  return (key, value) => byKey(key).get(value) ?? [];
}

/** Hard topology spread constraints: the pod is in the fullest domain and the skew is above its limit. */
export function spreadCheck(cluster: PassCluster): RuleCheck {
  const byRules = new Map<SchedulingRules, readonly Spread[]>();
  return ({ pod }, node) => {
    const rules = pod.spec.scheduling;
    if (rules.topologySpread.length === 0) return undefined;
    const spreads = byRules.get(rules) ?? hardConstraints(rules).map((each) => countSpread(cluster, pod, each));
    byRules.set(rules, spreads);
    for (const { key, counts, most } of spreads) {
      const here = counts.get(node.entry.node.labels.get(key) ?? '') ?? 0;
      const skew = here - Math.min(...counts.values());
      if (skew > most) return REASONS.spreadBroken({ key, skew, most });
    }
    return undefined;
  };
}

interface Spread {
  readonly key: string;
  readonly most: number;
  readonly counts: ReadonlyMap<string, number>;
}

function hardConstraints({ topologySpread }: SchedulingRules): readonly TopologySpreadConstraint[] {
  return topologySpread.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
}

function countSpread(cluster: PassCluster, pod: Pod, constraint: TopologySpreadConstraint): Spread {
  const { topologyKey: key, maxSkew: most } = constraint;
  const counts = emptyDomains(cluster, pod, key);
  const matches = matcherOf(pod, constraint);
  for (const { key: owner, pods } of cluster.owners.values()) {
    if (owner.namespace !== pod.namespace) continue;
    for (const other of pods) {
      const domain = domainOf(cluster, other, key);
      const before = counts.get(domain);
      if (before !== undefined && other.pod.deletion === undefined && matches(other.pod.labels)) {
        counts.set(domain, before + 1);
      }
    }
  }
  return { key, most, counts };
}

/** Domains of nodes that the pod may run on; closed ones could take no replacement and would only raise the skew. */
function emptyDomains({ nodes }: PassCluster, pod: Pod, key: string): Map<string, number> {
  const isWanted = wantedNodes(pod);
  const open = nodes.filter(({ closed, entry }) => closed === undefined && isWanted(entry.node));
  const domains = open.flatMap(({ entry }) => entry.node.labels.get(key) ?? []);
  return new Map(domains.map((domain) => [domain, 0]));
}

function domainOf({ byName }: PassCluster, { pod }: PlacedPod, key: string): string {
  return byName.get(pod.spec.nodeName ?? '')?.entry.node.labels.get(key) ?? '';
}
