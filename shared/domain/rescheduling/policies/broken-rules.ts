import type { Because } from '#shared/domain/base/because.ts';
import { memoize } from '#shared/domain/base/memoize.ts';
import type { Pod, SchedulingRules, TopologySpreadConstraint } from '#shared/domain/pod/pod.ts';
import { wantedNodes } from '#shared/domain/placement/filters/node-filters.ts';
import { hardConstraints } from '#shared/domain/placement/filters/pod-topology-spread.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import type { PassCluster, PassNode } from '#shared/domain/rescheduling/pass-cluster.ts';
import { matcherOf } from '#shared/domain/rescheduling/spread-scores.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/** A placement rule of a pod. */
export interface RuleCheck {
  /** Checked for every pod. */
  readonly isBroken: (placed: PlacedPod, node: PassNode) => boolean;
  /** Why it is broken; `undefined` if it is met. */
  readonly why: (placed: PlacedPod, node: PassNode) => Because | undefined;
}

/** Node selectors and required node affinity, checked once for all pods of a template on a node. */
export function nodeAffinityCheck(): RuleCheck {
  const byRules = new Map<SchedulingRules, (node: PassNode) => boolean>();
  const isBroken: RuleCheck['isBroken'] = ({ pod }, node) => {
    const rules = pod.spec.scheduling;
    if (rules.nodeAffinity === undefined && rules.nodeSelector.size === 0) return false;
    const isWanted = byRules.get(rules) ?? memoize(wantsNode(pod));
    byRules.set(rules, isWanted);
    return !isWanted(node);
  };
  const why: RuleCheck['why'] = (placed, node) =>
    isBroken(placed, node) ? REASONS.requiredBroken({ node: node.name }) : undefined;
  return { isBroken, why };
}

function wantsNode(pod: Pod): (node: PassNode) => boolean {
  const isWanted = wantedNodes(pod);
  return ({ entry }) => isWanted(entry.node);
}

/** Hard topology spread constraints: the pod's domain has too many more pods than another one. */
export function spreadCheck(cluster: PassCluster, labelled = podsByLabel(cluster)): RuleCheck {
  const byRules = new Map<SchedulingRules, readonly DomainSpread[]>();
  const counting: Counting = { cluster, labelled, openDomains: memoize((key) => domainsOf(cluster, key)) };
  const spreadsOf = (pod: Pod): readonly DomainSpread[] => {
    const rules = pod.spec.scheduling;
    if (rules.topologySpread.length === 0) return [];
    const spreads = byRules.get(rules) ?? hardConstraints(rules).map((each) => countSpread(counting, pod, each));
    byRules.set(rules, spreads);
    return spreads;
  };
  const find = (pod: Pod, node: PassNode) => spreadsOf(pod).find((each) => skewOn(each, node) > each.most);
  return {
    isBroken: ({ pod }, node) => find(pod, node) !== undefined,
    why: ({ pod }, node) => {
      const found = find(pod, node);
      return found && REASONS.spreadBroken({ key: found.key, skew: skewOn(found, node), most: found.most });
    },
  };
}

function skewOn({ counts, key, least }: DomainSpread, node: PassNode): number {
  return (countOn(counts, node, key) ?? 0) - least;
}

interface DomainSpread {
  readonly key: string;
  readonly most: number;
  readonly counts: ReadonlyMap<string, number>;
  readonly least: number;
}

interface Counting {
  readonly cluster: PassCluster;
  readonly labelled: PodsByLabel;
  readonly openDomains: (key: string) => ReadonlySet<string>;
}

function countSpread(counting: Counting, pod: Pod, constraint: TopologySpreadConstraint): DomainSpread {
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

/** The count of the domain that a node is in; `undefined` if it is in none that counts. */
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

/** Pods that the constraint may count: in its namespace, and with the first label of its selector if it has one. */
function selectable({ cluster, labelled }: Counting, pod: Pod, { labelSelector }: TopologySpreadConstraint) {
  const [label] = labelSelector?.matchLabels ?? [];
  return label === undefined ? cluster.owners.podsIn(pod.namespace) : labelled(pod.namespace, label);
}

/** The pods of controllers in a namespace that have a label. */
export type PodsByLabel = (namespace: string, label: readonly [key: string, value: string]) => readonly PlacedPod[];

function labelText([key, value]: readonly [string, string]): string {
  return `${key}=${value}`;
}

/** Each namespace is read on demand. */
export function podsByLabel({ owners }: PassCluster): PodsByLabel {
  const ofNamespace = memoize((namespace: string) => {
    const byLabel = new Map<string, PlacedPod[]>();
    for (const each of Map.groupBy(owners.podsIn(namespace), ({ pod }) => pod.labels)) addLabels(byLabel, each);
    return byLabel;
  });
  return (namespace, label) => ofNamespace(namespace).get(labelText(label)) ?? [];
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
