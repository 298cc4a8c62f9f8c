import { isFresh, type NodePressure } from '#shared/api/node-pressure.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import type { Finding } from './finding.ts';
import { agentMissing, agentSilent, agentsReport } from './messages.ts';

/** Whether the agent of each node reports. */
export function agentFindings(
  { nodes, pressures }: { readonly nodes: readonly Node[]; readonly pressures: readonly NodePressure[] },
  now: Instant,
): readonly Finding[] {
  const byName = new Map(pressures.map((each) => [each.name, each.status]));
  const names = nodes.map(({ name }) => name);
  const missing = names.filter((name) => byName.get(name) === undefined);
  const silent = names.filter((name) => byName.get(name) !== undefined && !isFresh(byName.get(name), now));
  const reporting = names.filter((name) => isFresh(byName.get(name), now));
  return [
    ...(missing.length > 0 ? [agentMissing(missing)] : []),
    ...(silent.length > 0 ? [agentSilent(silent)] : []),
    ...(reporting.length > 0 ? [agentsReport(reporting.length)] : []),
  ];
}
