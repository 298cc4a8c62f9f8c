import { isFresh, type NodePressure } from '#shared/api/node-pressure.ts';
import { compareTexts } from '#shared/domain/model/texts.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Finding } from './finding.ts';
import { agentsDiffer, agentsHaveOtherVersion } from './messages.ts';

/**
 * Whether all agents that report are of one version, and of that of this command, which answers as an agent of its own
 * version would.
 */
export function versionFindings(pressures: readonly NodePressure[], own: string, now: Instant): readonly Finding[] {
  const versions = pressures.flatMap(({ status }) => (isFresh(status, now) ? [status.agent?.version ?? ''] : []));
  const counts = Map.groupBy(
    versions.filter((version) => version !== ''),
    (version) => version,
  );
  const named = Array.from(counts, ([version, agents]) => ({ version, count: agents.length })).toSorted(byCount);
  const [first] = named;
  if (first === undefined) return [];
  if (named.length > 1) return [agentsDiffer(named)];
  return first.version === own ? [] : [agentsHaveOtherVersion(first.version, own)];
}

interface Counted {
  readonly version: string;
  readonly count: number;
}

/** The most frequent first. */
function byCount(a: Counted, b: Counted): number {
  return b.count - a.count || compareTexts(a.version, b.version);
}
