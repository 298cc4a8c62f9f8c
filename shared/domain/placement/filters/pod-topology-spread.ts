import { memoize } from '#shared/domain/base/memoize.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Node, NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import {
  labelsAsRequirements,
  type PreparedSelector,
  prepareSelector,
  withValueSets,
} from '#shared/domain/labels/label-selector.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod, SchedulingRules, TopologySpreadConstraint } from '#shared/domain/pod/pod.ts';
import {
  type FilterState,
  type PodAwareFilter,
  type FilterRefusal,
  toleratesNode,
  wantedNodes,
} from './node-filters.ts';
import { byLabels, podsPerStep } from './incoming-terms.ts';

const SKEWED: FilterRefusal = {
  filter: 'PodTopologySpread',
  reasons: ["node(s) didn't match pod topology spread constraints"],
  isResolvable: true,
};

const UNLABELLED: FilterRefusal = {
  filter: 'PodTopologySpread',
  reasons: ["node(s) didn't match pod topology spread constraints (missing required label)"],
  isResolvable: false,
};

/** More than any count of pods: the minimum if there are no domains. */
const NO_DOMAIN = 2 ** 31 - 1;

/** A prepared hard constraint, with the matching pods of each domain. */
interface Constraint extends Pick<TopologySpreadConstraint, 'topologyKey' | 'maxSkew'> {
  readonly minDomains: number;
  readonly selector: PreparedSelector;
  readonly honorsAffinity: boolean;
  readonly honorsTaints: boolean;
  /** 1 if the incoming pod matches itself. */
  readonly self: number;
  readonly counts: Map<string, number>;
}

/**
 * A constraint and its two least filled domains: a trial changes only one domain, so one of them remains the least
 * filled.
 */
interface Spread extends Constraint {
  readonly least: readonly Domain[];
}

type Domain = readonly [name: string, count: number];

/** Input for a trial. */
interface PreparedSpread {
  readonly spreads: readonly Spread[];
  readonly countedOn: CountedOn;
  readonly matchesOf: MatchesOf;
}

/** For each node, by index: which constraints count it in their domains. */
type CountedOn = (node: Node) => readonly number[];

/** For each pod, by index: which constraints select it. */
type MatchesOf = (pod: Pod) => readonly number[];

const NONE: readonly number[] = [];

/** The constraints that keep a pod from a node; the others only rank nodes. */
export function hardConstraints({ topologySpread }: SchedulingRules): readonly TopologySpreadConstraint[] {
  return topologySpread.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule');
}

/** Matching pods must stay evenly spread over the domains of each hard constraint. `plugins/podtopologyspread/filtering.go`. */
export function* podTopologySpread(pod: Pod, snapshot: ClusterSnapshot): Steps<PodAwareFilter | undefined> {
  const hard = hardConstraints(pod.spec.scheduling);
  if (hard.length === 0) return undefined;
  const constraints: Constraint[] = [];
  for (const one of hard) {
    constraints.push(prepareConstraint(pod, one));
    yield;
  }
  const countedOn = countedNodes(constraints, pod);
  const matchesOf = matching(constraints, pod);
  for (const entry of snapshot.nodes.values()) yield* countNode(constraints, countedOn, matchesOf, entry);
  const spreads = constraints.map((constraint) => ({ ...constraint, least: leastFilled(constraint.counts) }));
  return { open: (entry) => openState({ spreads, countedOn, matchesOf }, entry) };
}

/** `plugins/podtopologyspread/common.go` filterTopologySpreadConstraints. */
function prepareConstraint(pod: Pod, constraint: TopologySpreadConstraint): Constraint {
  const selector = withValueSets(prepareSelector(withMatchLabels(pod, constraint)));
  return {
    topologyKey: constraint.topologyKey,
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains ?? 1,
    selector,
    honorsAffinity: (constraint.nodeAffinityPolicy ?? 'Honor') === 'Honor',
    honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
    self: selector.matches(pod.labels) ? 1 : 0,
    counts: new Map(),
  };
}

/** The selector, and the pod's own values of the match-label keys. */
function withMatchLabels(pod: Pod, { labelSelector, matchLabelKeys }: TopologySpreadConstraint) {
  if (labelSelector === undefined) return undefined;
  const own = new Map([...pod.labels].filter(([key]) => matchLabelKeys.includes(key)));
  return {
    matchLabels: labelSelector.matchLabels,
    matchExpressions: [...labelSelector.matchExpressions, ...labelsAsRequirements(own)],
  };
}

/** Only nodes with the labels of all constraints have domains. `plugins/podtopologyspread/common.go` matchNodeInclusionPolicies. */
function countedNodes(constraints: readonly Constraint[], pod: Pod): CountedOn {
  const isWanted = wantedNodes(pod);
  const isTolerated = ({ taints }: Node) => toleratesNode(pod.spec.scheduling.tolerations, taints);
  const all = constraints.map((_, index) => index);
  return memoize((node) => {
    if (!constraints.every(({ topologyKey }) => node.labels.has(topologyKey))) return NONE;
    const [wanted, tolerated] = [isWanted(node), isTolerated(node)];
    // One list shared by nearly every node.
    if (wanted && tolerated) return all;
    return indexesOf(
      constraints,
      ({ honorsAffinity, honorsTaints }) => (wanted || !honorsAffinity) && (tolerated || !honorsTaints),
    );
  });
}

function matching(constraints: readonly Constraint[], incoming: Pod): MatchesOf {
  const matchesOf = byLabels(({ labels }) => indexesOf(constraints, ({ selector }) => selector.matches(labels)));
  return (pod) => (pod.namespace === incoming.namespace ? matchesOf(pod) : NONE);
}

function indexesOf(
  constraints: readonly Constraint[],
  isMeant: (constraint: Constraint) => boolean,
): readonly number[] {
  return constraints.flatMap((constraint, index) => (isMeant(constraint) ? [index] : []));
}

/** Terminating pods are left out, and an empty selector counts no pod. `plugins/podtopologyspread/common.go` countPodsMatchSelector. */
function* countNode(
  constraints: readonly Constraint[],
  countedOn: CountedOn,
  matchesOf: MatchesOf,
  { node, occupancy }: NodeEntry,
): Steps<void> {
  yield;
  const counted = countedOn(node);
  if (counted.length === 0) return;
  const sums = constraints.map(() => 0);
  const pause = podsPerStep(constraints.map(({ selector }) => selector));
  for (const [at, { pod }] of occupancy.pods.entries()) {
    if (pod.deletion === undefined) for (const index of matchesOf(pod)) sums[index] = (sums[index] ?? 0) + 1;
    if (at % pause === pause - 1) yield;
  }
  for (const index of counted) addTo(constraints[index] as Constraint, node, sums[index] ?? 0);
}

function addTo({ counts, selector, topologyKey }: Constraint, node: Node, sum: number): void {
  const domain = node.labels.get(topologyKey) ?? '';
  counts.set(domain, (counts.get(domain) ?? 0) + (selector.isEmpty ? 0 : sum));
}

/** In a trial only the domains of its node change; a terminating pod that is removed still counts there. */
function openState({ spreads, countedOn, matchesOf }: PreparedSpread, { node }: NodeEntry): FilterState {
  const changes = spreads.map(() => 0);
  const counted = countedOn(node);
  const shift = (by: number) => (placed: PlacedPod) => {
    if (counted.length === 0) return;
    for (const index of matchesOf(placed.pod)) {
      if (counted.includes(index)) changes[index] = (changes[index] ?? 0) + by;
    }
  };
  return {
    add: shift(1),
    remove: shift(-1),
    refusal: () => firstRefusal(spreads, node, changes),
  };
}

function firstRefusal(
  constraints: readonly Spread[],
  node: Node,
  changes: readonly number[],
): FilterRefusal | undefined {
  for (const [index, constraint] of constraints.entries()) {
    const domain = node.labels.get(constraint.topologyKey);
    if (domain === undefined) return UNLABELLED;
    const here = (constraint.counts.get(domain) ?? 0) + (changes[index] ?? 0);
    if (here + constraint.self - leastCount(constraint, domain, here) > constraint.maxSkew) return SKEWED;
  }
  return undefined;
}

/** The count of the least filled domain; 0 while there are fewer domains than required. */
function leastCount({ counts, least, minDomains }: Spread, changed: string, here: number): number {
  if (counts.size < minDomains) return 0;
  const others = least.filter(([domain]) => domain !== changed).map(([, count]) => count);
  return Math.min(...others, counts.has(changed) ? here : NO_DOMAIN);
}

function leastFilled(counts: ReadonlyMap<string, number>): readonly Domain[] {
  return [...counts].sort(([, a], [, b]) => a - b).slice(0, 2);
}
