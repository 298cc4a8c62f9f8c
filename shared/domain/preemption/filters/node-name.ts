import type { Pod } from '#shared/domain/pod/pod.ts';
import type { NodeFilter } from './filter.ts';
import type { Refusal } from './refusal.ts';

const REFUSAL: Refusal = {
  filter: 'NodeName',
  reasons: ["node(s) didn't match the requested node name"],
  isResolvable: false,
};

/** A pod that names its node goes nowhere else. `plugins/nodename/node_name.go`. */
export function nodeName(pod: Pod): NodeFilter {
  const wanted = pod.spec.nodeName ?? '';
  return ({ node }) => (wanted === '' || wanted === node.name ? undefined : REFUSAL);
}
