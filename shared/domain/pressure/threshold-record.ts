import type { Instant } from '#shared/domain/pod/pod.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';

/**
 * What the nodes of a policy report about one of its thresholds. `New`: nodes have just taken it up. `Held`: a node met
 * it when it came into force, so no node enforces it yet. `Confirmed`: it is in force, and no node can hold it any
 * more.
 */
export interface ThresholdRecord {
  /** The id of the threshold. */
  readonly rule: string;
  readonly state: 'New' | 'Held' | 'Confirmed';
  /** Generation of the policy when the threshold reached this state. */
  readonly generation: number;
  readonly since: Instant;
  /** Nodes that met it and have not recovered since; empty unless `Held`. */
  readonly nodes: readonly string[];
}

/** Input for the records of a policy. */
export interface RecordedPolicy {
  readonly generation: number;
  /** The generation that an administrator has confirmed. */
  readonly confirmedGeneration: number | undefined;
  /** Ids of its thresholds. */
  readonly rules: readonly string[];
}

/** What the agent of a node reports about a policy that is in force there. */
export interface ThresholdReport {
  readonly node: string;
  /** Thresholds of the policy that the node met when they came into force, with the policy's generation at that time. */
  readonly waiting: readonly { readonly rule: string; readonly generation: number | undefined }[];
}

/**
 * How long after the first report a threshold counts as new, so that one node can hold it for all. After that, neither
 * a single node nor its stolen token can stop another node from enforcing a threshold that is in force there.
 */
export const NEW_FOR_MS = 600_000;
/** The bounds of the CRD (deploy/crds/plimsoll.dev_nodepressurepolicies.yaml). */
export const MAX_RECORDS = 32;
const MAX_NODES = 16;

/**
 * The records after the reports of this moment (docs/contributing/decisions/thresholds.md). A node leaves the list of a held threshold only
 * by reporting that it no longer waits: a deleted node was not relieved.
 */
export function recordThresholds(
  previous: readonly ThresholdRecord[],
  policy: RecordedPolicy,
  reports: readonly ThresholdReport[],
  now: Instant,
): readonly ThresholdRecord[] {
  if (previous.length === 0 && reports.length === 0) return [];
  const { generation } = policy;
  return policy.rules.slice(0, MAX_RECORDS).map((rule) => {
    const before = previous.find((each) => each.rule === rule) ?? {
      rule,
      state: 'New',
      generation,
      since: now,
      nodes: [],
    };
    return advance(before, policy, reports, now);
  });
}

function advance(
  before: ThresholdRecord,
  policy: RecordedPolicy,
  reports: readonly ThresholdReport[],
  now: Instant,
): ThresholdRecord {
  const { generation, confirmedGeneration } = policy;
  const confirmed: ThresholdRecord = { ...before, state: 'Confirmed', generation, since: now, nodes: [] };
  if (before.state === 'Confirmed') return before;
  if (confirmedGeneration === generation) return confirmed;
  const nodes = holdersOf(before, generation, reports);
  if (before.state === 'New') {
    if (nodes.length > 0) return { ...before, state: 'Held', generation, since: now, nodes };
    return now - before.since >= NEW_FOR_MS ? confirmed : before;
  }
  const isConfirmed = nodes.length === 0 || generation > before.generation;
  return isConfirmed ? confirmed : { ...before, nodes };
}

/** Nodes that already hold it come first, so that the list is stable. */
function holdersOf(
  { rule, nodes }: ThresholdRecord,
  generation: number,
  reports: readonly ThresholdReport[],
): readonly string[] {
  const isWaiting = (report: ThresholdReport): boolean =>
    report.waiting.some((each) => each.rule === rule && each.generation === generation);
  const reported = new Map(reports.map((report) => [report.node, isWaiting(report)]));
  const kept = nodes.filter((node) => reported.get(node) !== false);
  const added = [...reported].filter(([node, waits]) => waits && !kept.includes(node)).map(([node]) => node);
  return [...kept, ...added.toSorted(compareTexts)].slice(0, MAX_NODES);
}

/**
 * How long a record can still hold a threshold after an agent has confirmed that its node did not meet it: while it is
 * new, plus some minutes for the record to arrive. Each agent measures this itself.
 */
export const REVOCABLE_MS = NEW_FOR_MS + 300_000;

/** The record that keeps a threshold of a policy from being enforced; `undefined` if none does. */
export function holdingRecord(
  records: readonly ThresholdRecord[],
  rule: string,
  { generation, confirmedGeneration }: Pick<RecordedPolicy, 'generation' | 'confirmedGeneration'>,
): ThresholdRecord | undefined {
  if (confirmedGeneration === generation) return undefined;
  return records.find((each) => each.rule === rule && each.state === 'Held' && each.generation === generation);
}
