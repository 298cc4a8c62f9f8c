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
      const facts = other === undefined ? undefined : { node: node.name, other };
      if (facts !== undefined) return REASONS.antiAffinityBroken(facts, facts);
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
      (other) => isSelected(other.pod) && other !== placed && other.pod.deletion === undefined,
    );
    if (found !== undefined) return `${found.pod.namespace}/${found.pod.name}`;
  }
  return undefined;
}

/** Pods of a template share their labels, so each term is compared with each template once. */
function selectedByTerms({ snapshot }: PassCluster): (term: AffinityTerm, pod: Pod) => boolean {
  const byTerm = new Map<AffinityTerm, Map<string, Map<Pod['labels'], boolean>>>();
  return (term, pod) => {
    // Nearly every term is about its own namespace: most other pods are told by its name alone.
    if (term.namespaceSelector.written === undefined && !term.namespaces.has(pod.namespace)) return false;
    const ofTerm = byTerm.get(term) ?? new Map<string, Map<Pod['labels'], boolean>>();
    byTerm.set(term, ofTerm);
    const known = ofTerm.get(pod.namespace) ?? new Map<Pod['labels'], boolean>();
    ofTerm.set(pod.namespace, known);
    const answer = known.get(pod.labels) ?? selectsPod(term, pod, snapshot.namespaces.get(pod.namespace) ?? NO_LABELS);
    known.set(pod.labels, answer);
    return answer;
  };
}

/** The nodes of a domain that some node is in. */
function nodesByDomain({ nodes }: PassCluster): (key: string, value: string) => readonly PassNode[] {
  const byKey = memoize((key: string) => Map.groupBy(nodes, ({ entry }) => entry.node.labels.get(key)));
  return (key, value) => byKey(key).get(value) as readonly PassNode[];
}

/** Hard topology spread constraints: the pod is in a domain that has too many more than another one. */
export function spreadCheck(cluster: PassCluster): RuleCheck {
  const byRules = new Map<SchedulingRules, readonly Spread[]>();
  const counting: Counting = {
    cluster,
    labelled: podsByLabel(cluster),
    openDomains: memoize((key) => domainsOf(cluster, key)),
  };
  return ({ pod }, node) => {
    const rules = pod.spec.scheduling;
    if (rules.topologySpread.length === 0) return undefined;
    const spreads = byRules.get(rules) ?? hardConstraints(rules).map((each) => countSpread(counting, pod, each));
    byRules.set(rules, spreads);
    for (const { key, counts, least, most } of spreads) {
      const here = countOn(counts, node, key) ?? 0;
      if (here - least > most) return REASONS.spreadBroken({ key, skew: here - least, most });
    }
    return undefined;
  };
}

interface Spread {
  readonly key: string;
  readonly most: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly least: number;
}

interface Counting {
  readonly cluster: PassCluster;
  readonly labelled: (namespace: string, label: string) => readonly PlacedPod[];
  readonly openDomains: (key: string) => ReadonlySet<string>;
}

function hardConstraints({ topologySpread }: SchedulingRules): readonly TopologySpreadConstraint[] {
  return topologySpread.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
}

function countSpread(counting: Counting, pod: Pod, constraint: TopologySpreadConstraint): Spread {
  const { topologyKey: key, maxSkew: most } = constraint;
  const { cluster } = counting;
  const counts = new Map<string, number>();
  for (const domain of domainsFor(counting, pod, key)) counts.set(domain, 0);
  const matches = matcherOf(pod, constraint);
  for (const other of selectable(counting, pod, constraint)) {
    const domain = cluster.byName.get(other.pod.spec.nodeName ?? '')?.entry.node.labels.get(key);
    if (domain === undefined || other.pod.deletion !== undefined || !matches(other.pod.labels)) continue;
    const before = counts.get(domain);
    if (before !== undefined) counts.set(domain, before + 1);
  }
  return { key, most, counts, least: Math.min(...counts.values()) };
}

/** The count of the domain that a node is in; `undefined` where it is in none that counts. */
function countOn(counts: ReadonlyMap<string, number>, { entry }: PassNode, key: string): number | undefined {
  const domain = entry.node.labels.get(key);
  return domain === undefined ? undefined : counts.get(domain);
}

/** Domains of nodes that the pod may run on; closed ones could take no replacement and would only raise the skew. */
function domainsFor({ cluster, openDomains }: Counting, pod: Pod, key: string): Iterable<string> {
  const { nodeAffinity, nodeSelector } = pod.spec.scheduling;
  if (nodeAffinity === undefined && nodeSelector.size === 0) return openDomains(key);
  const isWanted = wantedNodes(pod);
  return domainsOf(cluster, key, ({ entry }) => isWanted(entry.node));
}

function domainsOf(
  { nodes }: PassCluster,
  key: string,
  isWanted: (node: PassNode) => boolean = () => true,
): ReadonlySet<string> {
  const open = nodes.filter((node) => node.closed === undefined && isWanted(node));
  return new Set(open.flatMap(({ entry }) => entry.node.labels.get(key) ?? []));
}

/** Pods that the constraint may count: of its namespace, and with the first label of its selector where it has one. */
function selectable({ cluster, labelled }: Counting, pod: Pod, { labelSelector }: TopologySpreadConstraint) {
  const [label] = labelSelector?.matchLabels ?? [];
  if (label === undefined) return cluster.owners.podsIn(pod.namespace);
  return labelled(pod.namespace, labelText(label));
}

function labelText([key, value]: readonly [string, string]): string {
  return `${key}=${value}`;
}

/** The pods of controllers in a namespace by each of their labels. */
function podsByLabel({ owners }: PassCluster): Counting['labelled'] {
  const ofNamespace = memoize((namespace: string) => {
    const byLabel = new Map<string, PlacedPod[]>();
    for (const each of Map.groupBy(owners.podsIn(namespace), ({ pod }) => pod.labels)) addLabels(byLabel, each);
    return byLabel;
  });
  return (namespace, label) => ofNamespace(namespace).get(label) ?? [];
}

/** Pods of a template share their labels. */
function addLabels(
  byLabel: Map<string, PlacedPod[]>,
  [labels, pods]: readonly [Pod['labels'], readonly PlacedPod[]],
): void {
  for (const label of labels) {
    const text = labelText(label);
    const known = byLabel.get(text);
    if (known === undefined) byLabel.set(text, [...pods]);
    else for (const placed of pods) known.push(placed);
  }
}
