import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import { memoize } from '#shared/domain/base/memoize.ts';
import { type AffinityTerm, selectsPod } from '#shared/domain/pod/affinity-term.ts';
import { type Pod, controllerOf } from '#shared/domain/pod/pod.ts';
import { REASONS } from '#shared/domain/rescheduling/messages.ts';
import type { PassCluster, PassNode } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { podsOfController } from '#shared/domain/snapshot/snapshot-pods.ts';
import { podsByLabel, type PodsByLabel, type RuleCheck } from './broken-rules.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** Required anti-affinity of the pod itself: the domain has another pod that it must not share it with. */
export function antiAffinityCheck(cluster: PassCluster, labelled = podsByLabel(cluster)): RuleCheck {
  const isSelected = selectedByTerms(cluster);
  const nodesIn = nodesByDomain(cluster);
  const isNextToOther = nextToOther(cluster, labelled);
  const otherOf = (placed: PlacedPod, node: PassNode, term: AffinityTerm): PlacedPod | undefined =>
    findOther(nodesIn(term.topologyKey, node), placed, (pod) => isSelected(term, pod));
  const isBrokenBy = (placed: PlacedPod, node: PassNode, term: AffinityTerm): boolean => {
    const domain = domainOf(term.topologyKey, node);
    if (domain === undefined) return false;
    return isNextToOther(placed, domain, term) ?? otherOf(placed, node, term) !== undefined;
  };
  return {
    isBroken: (placed, node) => placed.antiAffinity.some((term) => isBrokenBy(placed, node, term)),
    why: (placed, node) => {
      for (const term of placed.antiAffinity) {
        const other = isBrokenBy(placed, node, term) ? otherOf(placed, node, term)?.pod : undefined;
        const facts = other && { node: node.name, other: `${other.namespace}/${other.name}` };
        if (facts !== undefined) return REASONS.antiAffinityBroken(facts, facts);
      }
      return undefined;
    },
  };
}

/** `undefined` if the node has no label of that key. */
function domainOf(key: string, { name, entry }: PassNode): string | undefined {
  const value = entry.node.labels.get(key);
  return key === HOSTNAME && value !== undefined ? name : value;
}

function findOther(
  domain: readonly PassNode[],
  placed: PlacedPod,
  isSelected: (pod: Pod) => boolean,
): PlacedPod | undefined {
  for (const { entry } of domain) {
    const found = entry.occupancy.pods.find(
      (other) => isSelected(other.pod) && other !== placed && other.pod.deletion === undefined,
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Whether a term selects another pod in a domain. The domains with selected pods are found once per term; `undefined`
 * if that would have to examine too many pods.
 */
function nextToOther(cluster: PassCluster, labelled: PodsByLabel) {
  const atLeast = (least: number) =>
    memoize((term: AffinityTerm) => {
      const pods = podsSelectedBy(cluster, term, labelled);
      return pods && domainsWith(least, cluster, [term, pods]);
    });
  const [one, two] = [atLeast(1), atLeast(2)];
  return (placed: PlacedPod, domain: string, term: AffinityTerm): boolean | undefined => {
    const isSelf = placed.pod.deletion === undefined && selects(term, placed.pod);
    return (isSelf ? two : one)(term)?.has(domain);
  };
}

const NO_DOMAINS: ReadonlySet<string> = new Set();

function domainsWith(
  least: number,
  { byName }: PassCluster,
  [term, pods]: readonly [AffinityTerm, readonly PlacedPod[]],
): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { pod } of pods) {
    const node = byName.get(pod.spec.nodeName ?? '');
    const domain = node && domainOf(term.topologyKey, node);
    if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  const found = [...counts].filter(([, count]) => count >= least);
  return found.length === 0 ? NO_DOMAINS : new Set(found.map(([domain]) => domain));
}

/** Pods that a term selects and that are not terminating; `undefined` if it names no label that they all have. */
function podsSelectedBy(
  { snapshot }: PassCluster,
  term: AffinityTerm,
  labelled: PodsByLabel,
): readonly PlacedPod[] | undefined {
  const label = labelOf(term);
  if (label === undefined || term.namespaceSelector.written !== undefined) return undefined;
  return [...term.namespaces].flatMap((namespace) =>
    [...labelled(namespace, label), ...withoutController(snapshot, namespace)].filter(
      ({ pod }) => pod.deletion === undefined && selects(term, pod),
    ),
  );
}

/** The namespaces of a term without a namespace selector. */
function selects({ namespaces, selector }: AffinityTerm, { namespace, labels }: Pod): boolean {
  return namespaces.has(namespace) && selector.matches(labels);
}

/** A label that every pod selected by the term has. */
function labelOf({ selector }: AffinityTerm): readonly [key: string, value: string] | undefined {
  for (const { key, operator, values } of selector.requirements ?? []) {
    const [value, ...others] = values;
    if (operator === 'In' && value !== undefined && others.length === 0) return [key, value];
  }
  return undefined;
}

function withoutController(snapshot: PassCluster['snapshot'], namespace: string): readonly PlacedPod[] {
  const pods = podsOfController(snapshot, namespace, '');
  return [...pods].filter(({ pod }) => controllerOf(pod) === undefined);
}

/** Pods of a template share their labels, so each term is compared with each template once. */
function selectedByTerms({ snapshot }: PassCluster): (term: AffinityTerm, pod: Pod) => boolean {
  const byTerm = new Map<AffinityTerm, Map<string, Map<Pod['labels'], boolean>>>();
  return (term, pod) => {
    // Nearly every term covers only its own namespace, so the name alone rules out most other pods.
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

/** The nodes of the domain that a node is in. */
function nodesByDomain({ nodes }: PassCluster): (key: string, node: PassNode) => readonly PassNode[] {
  const byKey = memoize((key: string) => Map.groupBy(nodes, (node) => domainOf(key, node)));
  return (key, node) => {
    const domain = key === HOSTNAME ? undefined : domainOf(key, node);
    return domain === undefined ? [node] : (byKey(key).get(domain) as readonly PassNode[]);
  };
}
