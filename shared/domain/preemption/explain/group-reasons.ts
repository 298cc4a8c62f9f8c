import { compareTexts } from '#shared/domain/model/compare-texts.ts';
import { ruledOutReason } from './explain-ruled-out.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
import type { RuledOutNode } from './simulate-preemption.ts';

/** Nodes that the pod does not go to for one reason. */
export interface ReasonGroup {
  readonly reason: string;
  readonly count: number;
  /** The first ten, in the order of the snapshot. */
  readonly nodes: readonly string[];
}

const MOST_NAMED = 10;

/** Groups nodes by why the pod does not go there; the reason of most nodes first. */
export function groupReasons(state: PrefilterState, ruledOut: readonly RuledOutNode[]): readonly ReasonGroup[] {
  const groups = Map.groupBy(ruledOut, (each) => ruledOutReason(state, each));
  return Array.from(groups, ([reason, nodes]) => ({
    reason,
    count: nodes.length,
    nodes: nodes.slice(0, MOST_NAMED).map(({ node }) => node),
  })).toSorted((a, b) => b.count - a.count || compareTexts(a.reason, b.reason));
}
