import { isValidRequirement, meetsRequirement } from '#shared/domain/labels/requirement.ts';
import type { Node } from '#shared/domain/snapshot/node.ts';
import type { NodeSelectorTerm, Pod } from '#shared/domain/pod/pod.ts';
import type { Requirement } from '#shared/domain/labels/requirement.ts';
import type { NodeFilter } from './filter.ts';
import type { Refusal } from './refusal.ts';

const REFUSAL: Refusal = {
  filter: 'NodeAffinity',
  reasons: ["node(s) didn't match Pod's node affinity/selector"],
  isResolvable: false,
};

/** The node must match the node selector and one of the affinity terms. `plugins/nodeaffinity/node_affinity.go` Filter. */
export function nodeAffinity(pod: Pod): NodeFilter {
  const isWanted = wantedNodes(pod);
  return ({ node }) => (isWanted(node) ? undefined : REFUSAL);
}

/** Which nodes a pod's selector and required affinity admit. `component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go`. */
export function wantedNodes(pod: Pod): (node: Node) => boolean {
  const selector = [...pod.spec.scheduling.nodeSelector];
  const terms = pod.spec.scheduling.nodeAffinity?.terms.filter(isUsableTerm);
  return (node) => {
    if (!selector.every(([key, value]) => node.labels.get(key) === value)) return false;
    return terms === undefined || terms.some((term) => matchesTerm(node, term));
  };
}

/**
 * The only nodes that the affinity terms leave by name; `undefined` where they do not settle it by name.
 * `plugins/nodeaffinity/node_affinity.go` PreFilter.
 */
export function namedNodes(pod: Pod): ReadonlySet<string> | undefined {
  const terms = pod.spec.scheduling.nodeAffinity?.terms ?? [];
  const named = terms.map(namesOfTerm);
  if (named.length === 0 || named.includes(undefined)) return undefined;
  return new Set(named.flatMap((names) => names ?? []));
}

function namesOfTerm(term: NodeSelectorTerm): readonly string[] | undefined {
  const lists = term.matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
  const [first, ...others] = lists.map((requirement) => requirement.values);
  return first?.filter((name) => others.every((names) => names.includes(name)));
}

/** A term that is empty, or that the API server would refuse, matches no node. */
function isUsableTerm({ matchExpressions, matchFields }: NodeSelectorTerm): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return matchExpressions.every(isValidRequirement) && matchFields.every(isValidFieldRequirement);
}

function isValidFieldRequirement({ operator, values }: Requirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values.length === 1;
}

function matchesTerm(node: Node, term: NodeSelectorTerm): boolean {
  return (
    term.matchExpressions.every((requirement) => meetsRequirement(node.labels, requirement)) &&
    term.matchFields.every((requirement) => meetsField(node, requirement))
  );
}

/** The name is the one field; any other reads as empty. */
function meetsField(node: Node, { key, operator, values }: Requirement): boolean {
  const isEqual = values[0] === (key === 'metadata.name' ? node.name : '');
  return isEqual === (operator === 'In');
}
