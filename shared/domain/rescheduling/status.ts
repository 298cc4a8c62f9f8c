import { type EvictedPod, MAX_EVICTED } from '#shared/domain/disruption/disruption.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { type Instant, ownerText } from '#shared/domain/pod/pod.ts';
import type { KeepAway, ReschedulingResult } from './pass.ts';
import { POLICY_KINDS, type PolicyKind, type ReschedulingMode } from './policy.ts';

/** The status of a ReschedulingPolicy after its last pass: what was examined and decided, never what will happen. */
export interface ReschedulingStatus {
  readonly lastPass: Instant;
  readonly mode: ReschedulingMode;
  /** Pods that a policy examined. */
  readonly considered: number;
  /** Moves that the pass decided on, and those for which the eviction was accepted. */
  readonly planned: number;
  readonly moved: number;
  /** The first moves. */
  readonly moves: readonly MoveStatus[];
  /** The last pods that were evicted, the oldest first: records of removed pods read their cause here. */
  readonly evicted: readonly EvictedPod[];
  /** Why the other pods stayed: the count per reason, most frequent first. */
  readonly left: readonly LeftStatus[];
  /** Nodes that are above their target after the moves, and why their pods stay. */
  readonly overTarget: readonly OverTargetStatus[];
  /** Owners whose pods certain nodes refuse, and which should avoid those nodes. */
  readonly keptAway: readonly KeptAwayStatus[];
  /** Owners that are left alone because kube-scheduler disagrees. */
  readonly stopped: readonly StoppedOwner[];
  readonly policies: readonly PolicyStatus[];
}

export interface MoveStatus {
  readonly pod: string;
  readonly policy: PolicyKind;
  readonly from: string;
  /** Where the replacement is expected. */
  readonly expectedOn: string;
  /** In points. */
  readonly gain: number;
  readonly because: Because;
}

export interface LeftStatus {
  readonly code: string;
  readonly count: number;
  /** The reason of one of them. */
  readonly example: string;
}

export interface OverTargetStatus {
  readonly node: string;
  readonly text: string;
  /** Why it stays above: the count of its pods per reason, most frequent first. */
  readonly obstacle: string;
}

export interface KeptAwayStatus {
  readonly owner: string;
  readonly node: string;
  readonly text: string;
}

export interface StoppedOwner {
  readonly owner: string;
  readonly until: Instant;
  readonly text: string;
}

/** What the moves of a policy gained, for replacements that are placed. */
export interface PolicyStatus {
  readonly policy: PolicyKind;
  readonly rate: number;
  readonly expected: number;
  readonly reached: number;
}

/** Bounds the object to a few KiB, regardless of the cluster. */
const MAX_COUNTS = { moves: 20, left: 20, overTarget: 20, keptAway: 20, stopped: 20 } as const;

/** What a status contains in addition to the plan; `moved` counts the accepted evictions of the pass. */
export type CarriedOut = Pick<ReschedulingStatus, 'mode' | 'moved' | 'evicted'> & { readonly now: Instant };

export function statusOf(result: ReschedulingResult, { now, mode, moved, evicted }: CarriedOut): ReschedulingStatus {
  const { moves, stays, keptAway, considered, memory } = result;
  return {
    lastPass: now,
    mode,
    considered,
    planned: moves.length,
    moved,
    moves: moves.slice(0, MAX_COUNTS.moves).map(moveStatus),
    evicted: evicted.slice(-MAX_EVICTED),
    left: countReasons(stays.map(({ because }) => because)).slice(0, MAX_COUNTS.left),
    overTarget: overTargetStatus(result).slice(0, MAX_COUNTS.overTarget),
    keptAway: keptAway.slice(0, MAX_COUNTS.keptAway).map(keptAwayStatus),
    stopped: stoppedOwners(memory).slice(0, MAX_COUNTS.stopped),
    policies: POLICY_KINDS.flatMap((policy) => {
      const known = memory.policies.get(policy);
      return known === undefined ? [] : [{ policy, ...rounded(known) }];
    }),
  };
}

/** A move as shown. */
export function moveStatus({
  pod,
  policy,
  from,
  expectedOn,
  gain,
  because,
}: ReschedulingResult['moves'][number]): MoveStatus {
  const { namespace, name } = pod.placed.pod;
  return {
    pod: `${namespace}/${name}`,
    policy,
    from,
    expectedOn: expectedOn[0] ?? '',
    gain: toHundredths(gain),
    because,
  };
}

/**
 * What a status says about a completed move. Names of pods in other namespaces are not disclosed: the reason goes into
 * a record.
 */
export function evictedPod(
  { pod, from, because }: ReschedulingResult['moves'][number],
  decision: string,
  at: Instant,
): EvictedPod {
  const { namespace, name, uid } = pod.placed.pod;
  const { other } = because.facts;
  const isForeign = typeof other === 'string' && !other.startsWith(`${namespace}/`);
  const text = isForeign ? because.text.replace(other, 'of another namespace') : because.text;
  return {
    pod: `${namespace}/${name}`,
    uid,
    node: from,
    decision,
    at,
    because: { code: because.code, text, facts: {} },
  };
}

/** The nodes that a pass leaves above their target, as shown. */
export function overTargetStatus({ overTarget, stays }: ReschedulingResult): readonly OverTargetStatus[] {
  const byNode = Map.groupBy(
    stays.filter(({ policy }) => policy === 'underused'),
    ({ node }) => node,
  );
  return overTarget.map(({ node, because, held }) => {
    const left = countReasons((byNode.get(node) ?? []).map((stay) => stay.because));
    const counts = left.map(({ code, count }) => `${count} ${code}`).join(', ');
    return { node, text: because.text, obstacle: held?.text ?? counts };
  });
}

/** An owner that is kept away from a node, as shown. */
export function keptAwayStatus({ owner, node, because }: KeepAway): KeptAwayStatus {
  return { owner: ownerText(owner), node, text: because.text };
}

/** The count of reasons by code, most frequent first. */
export function countReasons(reasons: readonly Because[]): readonly LeftStatus[] {
  const groups = [...Map.groupBy(reasons, ({ code }) => code)];
  const counted = groups.map(([code, [first, ...others]]) => ({
    code,
    count: 1 + others.length,
    example: first?.text ?? '',
  }));
  return counted.toSorted((a, b) => b.count - a.count);
}

function stoppedOwners({ owners }: ReschedulingResult['memory']): readonly StoppedOwner[] {
  return [...owners].flatMap(([id, { stop }]) => {
    if (stop === undefined) return [];
    const [owner = id] = id.split(' ');
    return [{ owner, until: stop.until, text: stop.text }];
  });
}

function rounded({ rate, expected, reached }: Omit<PolicyStatus, 'policy'>): Omit<PolicyStatus, 'policy'> {
  return { rate, expected: toHundredths(expected), reached: toHundredths(reached) };
}

function toHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
