import type { ReasonGroup } from '#shared/domain/preemption/explain/group-reasons.ts';
import { formatSection } from '#cli/output/table.ts';

/** Which nodes a pod does not go to, and why; empty where there are none. */
export function reasonTable(groups: readonly ReasonGroup[]): string {
  return formatSection(['NODES', 'WHY NOT'], groups.map(reasonCells));
}

function reasonCells({ count, nodes, reason }: ReasonGroup): readonly string[] {
  const more = count > nodes.length ? ` and ${count - nodes.length} more` : '';
  return [`${nodes.join(',')}${more}`, reason];
}
