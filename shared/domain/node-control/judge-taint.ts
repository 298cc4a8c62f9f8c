import { MOST_SKEW_MS } from '#shared/domain/model/clock-skew.ts';
import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { ControlledNode, Family, Finding } from './pressure-report.ts';

/** Which resources get a taint, and how long taints stay; milliseconds. */
export interface TaintLimits {
  /** Resources that are shown on nodes; taints and conditions of others are removed. */
  readonly families: readonly Family[];
  /** How long a taint stays after the pressure has ended. */
  readonly transitionMs: number;
  /** How long a taint stays while the node's state is unknown. */
  readonly unknownMs: number;
  /** Share of all nodes that may have a taint at once; at least one node may. */
  readonly mostTaintedShare: number;
}

/** What should become of one taint. */
export interface TaintVerdict {
  readonly kind: 'add' | 'remove' | 'keep';
  readonly because: Because;
}

/** Decides about one taint of one node. Only a report in mode Enforce adds one; without a report it stays for a while. */
export function judgeTaint(
  node: ControlledNode,
  family: Family,
  { finding, limits }: { readonly finding: Finding; readonly limits: TaintLimits },
  now: Instant,
): TaintVerdict {
  const because = (code: string, text: string): Because => ({
    code,
    text: `${family} of node ${node.name}: ${text}`,
    facts: { node: node.name, family },
  });
  if (!limits.families.includes(family)) return remove(because('NotShown', 'the configuration no longer names it'));
  if (finding.kind === 'unreported') return whileUnreported(node.taints.get(family), limits, { now, because });
  if (finding.mode === 'DryRun') return remove(because('AgentDryRun', 'the agent is in mode DryRun'));
  if (finding.kind === 'pressed') return { kind: 'add', because: because('Pressure', 'under pressure') };
  const since = usable(finding.since, now) ?? usable(node.taints.get(family), now);
  const ageMs = since === undefined ? Infinity : now - since;
  const [holdMs, ended, held] =
    finding.kind === 'relieved'
      ? [limits.transitionMs, because('PressureEnded', 'no pressure'), because('Transition', 'pressure ended recently')]
      : [limits.unknownMs, because('UnknownTooLong', 'unknown for too long'), because('Unknown', 'unknown')];
  return ageMs >= holdMs ? remove(ended) : { kind: 'keep', because: held };
}

/** A time from the future would hold its taint for as long: it is no time. */
function usable(time: Instant | undefined, now: Instant): Instant | undefined {
  return time !== undefined && time > now + MOST_SKEW_MS ? undefined : time;
}

interface Judging {
  readonly now: Instant;
  readonly because: (code: string, text: string) => Because;
}

function whileUnreported(addedAt: Instant | undefined, limits: TaintLimits, { now, because }: Judging): TaintVerdict {
  const since = usable(addedAt, now);
  const isRecent = since !== undefined && now - since < limits.unknownMs;
  return isRecent
    ? { kind: 'keep', because: because('Unknown', 'no agent reports') }
    : remove(because('Unreported', 'no agent reports'));
}

function remove(because: Because): TaintVerdict {
  return { kind: 'remove', because };
}
