import { DEFAULT_LIMITS, type EvictionLimits } from './eviction-limits.ts';
import type { Selector } from '#shared/domain/labels/label-selector.ts';

/** Without a policy that says otherwise: the priority of an ordinary important class, above which no pod may opt out. */
export const DEFAULT_OPT_OUT_CEILING = 1_000_000;

/** What a NodePressurePolicy says of evictions by ourselves on the nodes that it selects. */
export interface NodeProtection {
  readonly name: string;
  readonly order: number;
  readonly nodes: Selector;
  readonly mode: 'DryRun' | 'Enforce';
  readonly limits: EvictionLimits;
  /** In addition to kube-system and our own. */
  readonly namespaces: readonly string[];
  readonly optOutCeiling: number;
}

/** What holds on a node; the mode of a node that no policy selects is its agent's own setting. */
export interface Protection extends Pick<NodeProtection, 'limits' | 'namespaces' | 'optOutCeiling'> {
  readonly policy: Pick<NodeProtection, 'name' | 'mode'> | undefined;
}

const USUAL: Protection = {
  policy: undefined,
  limits: DEFAULT_LIMITS,
  namespaces: [],
  optOutCeiling: DEFAULT_OPT_OUT_CEILING,
};

/** What holds on a node: of several policies that select it the highest order, then the first by name; as a whole. */
export function protectionOnNode(
  policies: readonly NodeProtection[],
  nodeLabels: ReadonlyMap<string, string>,
): Protection {
  const [first] = policies
    .filter(({ nodes }) => nodes.matches(nodeLabels))
    .sort((a, b) => b.order - a.order || (a.name < b.name ? -1 : 1));
  return first === undefined ? USUAL : { ...first, policy: first };
}
