import type { NodeEntry } from '#shared/domain/model/cluster-snapshot.ts';
import { refusalOn } from './fits-node.ts';
import { namedNodes } from './node-affinity.ts';
import { reasonsText, unavailableText } from './reasons-text.ts';
import type { Refusal } from './refusal.ts';
import type { Screening } from './screening.ts';

/** The filter phase of one scheduling attempt. */
export type Examination =
  | { readonly kind: 'fits'; readonly nodes: readonly string[] }
  | {
      readonly kind: 'fitsNowhere';
      /** By name of the nodes that were looked at; the rest was ruled out before. */
      readonly refusals: Refusals;
      /** Kubernetes' text. */
      readonly text: string;
    };

type Refusals = ReadonlyMap<string, Refusal>;

/**
 * Tries every node, the nominated one first: if that fits, no other is looked at. Affinity to nodes by name leaves only
 * those. `pkg/scheduler/schedule_one.go` findNodesThatFitPod.
 */
export function examineNodes(screening: Screening): Examination {
  const { nodes } = screening.snapshot;
  if (nodes.size === 0) return fitsNowhere(new Map(), 'no nodes available to schedule pods');
  const names = namedNodes(screening.pod);
  if (names?.size === 0) return fitsNowhere(new Map(), unavailableText(nodes.size, 'pod affinity terms conflict'));
  const nominated = nodes.get(screening.pod.status.nominatedNodeName ?? '');
  if (nominated !== undefined && refusalOn(screening, nominated) === undefined) return fits([nominated.node.name]);
  const isLookedAt = (entry: NodeEntry): boolean => names?.has(entry.node.name) !== false || entry === nominated;
  return examine(screening, [...nodes.values()].filter(isLookedAt), nominated);
}

function examine(screening: Screening, entries: readonly NodeEntry[], nominated?: NodeEntry): Examination {
  const feasible: string[] = [];
  const refusals = new Map<string, Refusal>();
  for (const entry of entries) {
    const refusal = refusalOn(screening, entry);
    if (refusal === undefined) feasible.push(entry.node.name);
    else refusals.set(entry.node.name, refusal);
  }
  if (feasible.length > 0) return fits(feasible);
  return fitsNowhere(refusals, textOf(screening.snapshot.nodes.size, refusals, nominated));
}

function textOf(nodeCount: number, refusals: Refusals, nominated?: NodeEntry): string {
  const lookedAt = Array.from(refusals.values(), ({ reasons }) => ({ reasons, nodes: 1 }));
  const ruledOut = { reasons: [ruledOutReason(refusals, nominated)], nodes: nodeCount - refusals.size };
  return reasonsText(nodeCount, [...lookedAt, ruledOut]);
}

/** Kubernetes names the filter that refused the nominated node here too, as that was tried before the others were ruled out. */
function ruledOutReason(refusals: Refusals, nominated?: NodeEntry): string {
  const refused = refusals.get(nominated?.node.name ?? '')?.filter ?? 'NodeAffinity';
  const filters = new Set(['NodeAffinity', refused]);
  return `node(s) didn't satisfy plugin(s) [${[...filters].sort().join(' ')}]`;
}

function fits(nodes: readonly string[]): Examination {
  return { kind: 'fits', nodes };
}

function fitsNowhere(refusals: Refusals, text: string): Examination {
  return { kind: 'fitsNowhere', refusals, text };
}
