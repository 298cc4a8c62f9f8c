import type { Selector } from '#shared/domain/model/label-selector.ts';

/** Without a policy that says otherwise: the priority of an ordinary important class, above which nobody may opt out. */
export const DEFAULT_OPT_OUT_CEILING = 1_000_000;

/** Whom a NodePressurePolicy protects on the nodes that it selects. */
export interface NodeProtection {
  readonly name: string;
  readonly order: number;
  readonly nodes: Selector;
  /** Beside kube-system and our own. */
  readonly namespaces: readonly string[];
  readonly optOutCeiling: number;
}

type Protection = Pick<NodeProtection, 'namespaces' | 'optOutCeiling'>;

const USUAL: Protection = { namespaces: [], optOutCeiling: DEFAULT_OPT_OUT_CEILING };

/** What is protected on a node: of several policies that select it the highest order holds, then the first by name; as a whole. */
export function protectionOnNode(
  policies: readonly NodeProtection[],
  nodeLabels: ReadonlyMap<string, string>,
): Protection {
  const [first] = policies
    .filter(({ nodes }) => nodes.matches(nodeLabels))
    .sort((a, b) => b.order - a.order || (a.name < b.name ? -1 : 1));
  return first ?? USUAL;
}
