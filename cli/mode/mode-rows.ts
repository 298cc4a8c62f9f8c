import type { NodePressure } from '#shared/api/node-pressure.ts';
import type { Mode } from '#shared/api/node-pressure-policy/mode.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { formatTable } from '#cli/output/table.ts';
import { type NodeRow, nodeRows } from '#cli/top/top-rows.ts';
import type { PolicyChange } from './plan-mode.ts';

/** One node of which the mode would change. */
export interface ModeRow {
  readonly node: string;
  readonly policy: string;
  readonly from: Mode;
  readonly to: Mode;
  readonly state: NodeRow['state'];
  /** The pod that would be evicted first. */
  readonly next: string | undefined;
}

/** The nodes of each policy with what their agents report: with a threshold met, enforcing evicts at once. */
export function modeRows(
  changes: readonly PolicyChange[],
  pressures: readonly NodePressure[],
  now: Instant,
): readonly ModeRow[] {
  const reports = new Map(nodeRows(pressures, now).map((row) => [row.metadata.name, row]));
  return changes.flatMap(({ policy, from, to, nodes }) =>
    nodes.map((node) => {
      const { state = 'Unknown', next } = reports.get(node) ?? {};
      return { node, policy, from, to, state, next } as const;
    }),
  );
}

/** As a table. */
export function printRows(rows: readonly ModeRow[]): string {
  const cells = rows.map(({ node, policy, from, to, state, next }) => [
    node,
    policy,
    from,
    to,
    state,
    next ?? '<none>',
  ]);
  return formatTable(['NODE', 'POLICY', 'FROM', 'TO', 'STATE', 'NEXT'], cells);
}
