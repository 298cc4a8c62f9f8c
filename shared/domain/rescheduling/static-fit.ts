import type { NodeSelectorTerm, Pod, SchedulingRules, Toleration, WeightedNodeTerm } from '#shared/domain/pod/pod.ts';
import { matchesNodeTerm, nodeName, toleratesTaint } from '#shared/domain/placement/filters/node-filters.ts';
import { NODE_FILTERS } from '#shared/domain/placement/trial/prefilter-state.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import type { PassNode } from './pass-cluster.ts';

/** What the rules of a pod say about every node regardless of other pods, by the node's index. */
export interface StaticFit {
  /** 1 if the pod may run there. */
  readonly fits: Uint8Array;
  /** Sum of the weights of the preferred node affinity terms that match; `undefined` without such terms. */
  readonly preference: Float64Array | undefined;
  /** PreferNoSchedule taints that the pod does not tolerate; `undefined` if no node has any. */
  readonly untolerated: Float64Array | undefined;
}

/** Computed once for all pods of a template, which share their rules. */
export function createStaticFits(nodes: readonly PassNode[]): (pod: Pod) => StaticFit {
  const isTainted = nodes.some(({ entry }) => entry.node.taints.some(isPreference));
  const known = new Map<SchedulingRules, StaticFit>();
  return (pod) => {
    const rules = pod.spec.scheduling;
    const fit = known.get(rules) ?? fitOf(nodes, pod, isTainted);
    known.set(rules, fit);
    return fit;
  };
}

/** The replacement names no node. */
const FILTERS = NODE_FILTERS.filter((prepare) => prepare !== nodeName);

function fitOf(nodes: readonly PassNode[], pod: Pod, isTainted: boolean): StaticFit {
  const filters = FILTERS.map((prepare) => prepare(pod));
  const rules = pod.spec.scheduling;
  const { tolerations } = rules;
  const preference = ownPreferences(rules).length === 0 ? undefined : new Float64Array(nodes.length);
  const untolerated = isTainted ? new Float64Array(nodes.length) : undefined;
  const fits = new Uint8Array(nodes.length);
  for (const { index, entry } of nodes) {
    fits[index] = Number(filters.every((filter) => filter(entry) === undefined));
    if (preference !== undefined) preference[index] = preferenceFor(entry.node, rules);
    if (untolerated !== undefined) untolerated[index] = untoleratedOn(entry.node, tolerations);
  }
  return { fits, preference, untolerated };
}

/** `plugins/nodeaffinity/node_affinity.go` Score, without the terms that an avoid entry gave the pod: its replacement has its own. */
export function preferenceFor(node: Node, rules: SchedulingRules): number {
  return ownPreferences(rules).reduce((sum, { weight, term }) => sum + (matchesNodeTerm(node, term) ? weight : 0), 0);
}

/** The preferred terms that the owner of a pod wrote. */
export function ownPreferences({ preferredNodeTerms }: SchedulingRules): readonly WeightedNodeTerm[] {
  if (preferredNodeTerms.length === 0) return preferredNodeTerms;
  return preferredNodeTerms.filter(({ term }) => !isAvoidTerm(term));
}

const NODE_NAMES: readonly string[] = ['metadata.name', 'kubernetes.io/hostname'];

/** Such a term only keeps away from nodes by name (`shared/kube/admission/pod-patches.ts`). */
function isAvoidTerm({ matchExpressions, matchFields }: NodeSelectorTerm): boolean {
  const all = [...matchExpressions, ...matchFields];
  return all.length > 0 && all.every(({ key, operator }) => operator === 'NotIn' && NODE_NAMES.includes(key));
}

/** `plugins/tainttoleration/taint_toleration.go` countIntolerableTaintsPreferNoSchedule. */
function untoleratedOn({ taints }: Node, tolerations: readonly Toleration[]): number {
  const usable = tolerations.filter(({ effect }) => effect === '' || effect === 'PreferNoSchedule');
  return taints.filter((taint) => isPreference(taint) && !toleratesTaint(usable, taint)).length;
}

function isPreference({ effect }: { readonly effect: string }): boolean {
  return effect === 'PreferNoSchedule';
}
