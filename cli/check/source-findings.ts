import { isFresh, type NodePressure } from '#shared/api/node-pressure.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Finding } from './finding.ts';
import { fellBack, podsDisagree, sourcesDisagree, sourcesNotCompared } from './messages.ts';

type Say = (nodes: readonly string[], example: string) => Finding;

/** By reason of the condition `SourcesAgree`, the worst first; agent/messages.ts has the reasons. */
const FINDINGS: ReadonlyMap<string, Say> = new Map([
  ['SourcesDisagree', sourcesDisagree],
  ['PodsDisagree', podsDisagree],
  ['KernelUnreadable', fellBack],
  ['PodsUnreadable', fellBack],
  ['SourcesNotComparable', sourcesNotCompared],
]);

/** Nodes whose sources of memory figures contradict each other, cannot be compared, or are replaced by the kubelet's. */
export function sourceFindings(pressures: readonly NodePressure[], now: Instant): readonly Finding[] {
  const doubts = pressures.flatMap((each) => doubtOf(each, now) ?? []);
  return Array.from(FINDINGS, ([reason, say]) => {
    const [first, ...others] = doubts.filter((each) => each.reason === reason);
    return (
      first &&
      say(
        [first, ...others].map(({ node }) => node),
        `${first.node}: ${first.message}`,
      )
    );
  }).filter((finding) => finding !== undefined);
}

interface Doubt {
  readonly node: string;
  readonly reason: string;
  readonly message: string;
}

function doubtOf({ name, status }: NodePressure, now: Instant): Doubt | undefined {
  if (!isFresh(status, now)) return undefined;
  const found = status.conditions.find(({ type }) => type === 'SourcesAgree');
  return found && { node: name, reason: found.reason, message: found.message };
}
