import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { refusalOn } from './fits-node.ts';
import { namedNodes } from '#shared/domain/preemption/filters/node-affinity.ts';
import { countReasons, reasonsText, unavailableText, type ReasonCounts } from './reasons-text.ts';
import type { Refusal } from '#shared/domain/preemption/filters/refusal.ts';
import type { PrefilterState } from './prefilter-state.ts';

/** The filter phase of one scheduling attempt. */
export type Examination =
  | { readonly kind: 'fits'; readonly nodes: readonly string[] }
  | {
      readonly kind: 'fitsNowhere';
      /** Every node. */
      readonly examined: readonly Examined[];
      /** Kubernetes' text. */
      readonly text: string;
    };

/** A node and why the pod does not fit there; without a refusal it was ruled out before it was looked at. */
export interface Examined {
  readonly entry: NodeEntry;
  readonly refusal: Refusal | undefined;
}

/**
 * Tries every node, the nominated one first: if that fits, no other is looked at. Affinity to nodes by name leaves only
 * those. `pkg/scheduler/schedule_one.go` findNodesThatFitPod.
 */
export function examineNodes(state: PrefilterState): Examination {
  const { nodes } = state.snapshot;
  if (nodes.size === 0) return { kind: 'fitsNowhere', examined: [], text: 'no nodes available to schedule pods' };
  const names = namedNodes(state.pod);
  if (names?.size === 0) return conflict(nodes);
  const nominated = nodes.get(state.pod.status.nominatedNodeName ?? '');
  const nominatedRefusal = nominated && refusalOn(state, nominated);
  if (nominated !== undefined && nominatedRefusal === undefined) return fits([nominated.node.name]);
  const isLookedAt = (entry: NodeEntry): boolean => names?.has(entry.node.name) !== false || entry === nominated;
  return examine(state, isLookedAt, nominatedRefusal);
}

function examine(
  state: PrefilterState,
  isLookedAt: (entry: NodeEntry) => boolean,
  nominatedRefusal: Refusal | undefined,
): Examination {
  const feasible: string[] = [];
  const examined: Examined[] = [];
  for (const entry of state.snapshot.nodes.values()) {
    const isRuledOut = !isLookedAt(entry);
    const refusal = isRuledOut ? undefined : refusalOn(state, entry);
    if (isRuledOut || refusal !== undefined) examined.push({ entry, refusal });
    else feasible.push(entry.node.name);
  }
  return feasible.length > 0
    ? fits(feasible)
    : { kind: 'fitsNowhere', examined, text: textOf(examined, nominatedRefusal) };
}

function textOf(examined: readonly Examined[], nominatedRefusal: Refusal | undefined): string {
  const counts: ReasonCounts = new Map();
  const ruledOut = [ruledOutReason(nominatedRefusal)];
  for (const { refusal } of examined) countReasons(counts, refusal?.reasons ?? ruledOut);
  return reasonsText(examined.length, counts);
}

/** Kubernetes also names the filter that refused the nominated node, which it tries before it rules out the others. */
function ruledOutReason(nominatedRefusal: Refusal | undefined): string {
  const filters = new Set(['NodeAffinity', nominatedRefusal?.filter ?? 'NodeAffinity']);
  return `node(s) didn't satisfy plugin(s) [${[...filters].sort().join(' ')}]`;
}

function conflict(nodes: ReadonlyMap<string, NodeEntry>): Examination {
  const examined = Array.from(nodes.values(), (entry) => ({ entry, refusal: undefined }));
  return { kind: 'fitsNowhere', examined, text: unavailableText(nodes.size, 'pod affinity terms conflict') };
}

function fits(nodes: readonly string[]): Examination {
  return { kind: 'fits', nodes };
}
