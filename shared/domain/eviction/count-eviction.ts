import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type EvictionLimits, type EvictionUrgency, limitsFor } from './eviction-limits.ts';

/** An eviction that was let through. */
export interface CountedEviction {
  readonly at: Instant;
  /** Empty for one that is bound to no node's limits. */
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  /** UID of the pod's controller; absent without one. */
  readonly owner?: string | undefined;
  /** Whether it was let through beyond the limit of the cluster. */
  readonly isBeyondLimit?: true;
}

/** How many evictions may be let through. */
export interface EvictionBounds {
  /** Of the node; `undefined` binds the cluster's limit alone. */
  readonly limits: EvictionLimits | undefined;
  /** In the whole cluster, in a minute. */
  readonly inClusterPerMinute: number;
  /** As the agent says; in the last chance the cluster's limit yields once a minute for each node. */
  readonly urgency?: EvictionUrgency | undefined;
}

export type CountOutcome =
  | { readonly kind: 'counted'; readonly counted: readonly CountedEviction[] }
  | {
      readonly kind: 'exceeded';
      readonly scope: 'nodeLimit' | 'namespaceLimit' | 'clusterLimit';
      readonly because: Pick<Because, 'text' | 'facts'>;
      /** Until the window has room again. */
      readonly retryAfterMs: number;
      /** The evictions that fill the window. */
      readonly filledBy: readonly CountedEviction[];
    };

const MINUTE_MS = 60_000;
const TEN_MINUTES_MS = 600_000;

type Exceeded = Extract<CountOutcome, { kind: 'exceeded' }>;

interface Window extends Pick<Exceeded, 'scope'> {
  readonly what: string;
  readonly most: number;
  readonly windowMs: number;
  readonly has: (eviction: CountedEviction) => boolean;
}

/**
 * Adds an eviction to those that were let through in the last ten minutes, unless a limit is reached. A pod that is
 * evicted again is the same eviction; one from the future, by a clock that is ahead, counts as of now.
 */
export function countEviction(
  before: readonly CountedEviction[],
  wanted: CountedEviction,
  bounds: EvictionBounds,
): CountOutcome {
  const recent = recentEvictions(before, wanted.at);
  if (recent.some(({ uid }) => uid === wanted.uid)) return { kind: 'counted', counted: recent };
  const ofNode = bounds.limits === undefined ? [] : nodeWindows(wanted, limitsFor(bounds.urgency, bounds.limits));
  const ofCluster: Window = {
    scope: 'clusterLimit',
    what: 'evictions a minute in the cluster',
    most: bounds.inClusterPerMinute,
    windowMs: MINUTE_MS,
    has: () => true,
  };
  const spent = firstFull(ofNode, recent, wanted.at);
  if (spent !== undefined) return spent;
  const beyond = firstFull([ofCluster], recent, wanted.at) ?? takenShare(recent, wanted, bounds);
  if (beyond === undefined) return { kind: 'counted', counted: [...recent, wanted] };
  return yieldsTo(wanted, recent, bounds)
    ? { kind: 'counted', counted: [...recent, { ...wanted, isBeyondLimit: true }] }
    : beyond;
}

function firstFull(
  windows: readonly Window[],
  recent: readonly CountedEviction[],
  now: Instant,
): CountOutcome | undefined {
  for (const window of windows) {
    const inside = recent.filter((each) => now - each.at < window.windowMs && window.has(each));
    if (inside.length >= window.most) return exceeded(window, inside, now);
  }
  return undefined;
}

/**
 * Whether the limit of the cluster yields, in the last chance of a node. Only the node itself knows that it is its last
 * chance, so the limit yields to one eviction a minute for each node; a limit of 0 never yields.
 */
function yieldsTo(
  { at, node }: CountedEviction,
  recent: readonly CountedEviction[],
  { limits, inClusterPerMinute, urgency }: EvictionBounds,
): boolean {
  if (urgency !== 'LastChance' || limits === undefined || inClusterPerMinute === 0) return false;
  return !recent.some((each) => each.isBeyondLimit === true && each.node === node && at - each.at < MINUTE_MS);
}

/** Those that a window still looks at. */
function recentEvictions(counted: readonly CountedEviction[], now: Instant): readonly CountedEviction[] {
  const sane = counted.map((each) => (each.at > now ? { ...each, at: now } : each));
  return sane.filter(({ at }) => now - at < TEN_MINUTES_MS);
}

/**
 * No node and no owner may use up the limit of the cluster: each may hold as much of it as is left for the others, as
 * in webhook/request-body/fair-queue.ts.
 */
function takenShare(
  recent: readonly CountedEviction[],
  { at, node, owner }: CountedEviction,
  { inClusterPerMinute: most }: EvictionBounds,
): CountOutcome | undefined {
  const inside = recent.filter((each) => at - each.at < MINUTE_MS);
  const holders = [
    { what: `node \`${node}\``, held: inside.filter((each) => each.node === node) },
    { what: 'one owner', held: owner === undefined ? [] : inside.filter((each) => each.owner === owner) },
  ];
  const greedy = holders.find(({ held }) => held.length >= most - inside.length);
  if (greedy === undefined) return undefined;
  const what = `evictions a minute in the cluster that ${greedy.what} may use`;
  return exceeded({ scope: 'clusterLimit', what, most: most - inside.length, windowMs: MINUTE_MS }, greedy.held, at);
}

function nodeWindows({ node, namespace }: CountedEviction, limits: EvictionLimits): readonly Window[] {
  const onNode = (each: CountedEviction): boolean => each.node === node;
  return [
    {
      scope: 'nodeLimit',
      what: `evictions a minute on node \`${node}\``,
      most: limits.perMinute,
      windowMs: MINUTE_MS,
      has: onNode,
    },
    {
      scope: 'nodeLimit',
      what: `evictions in ten minutes on node \`${node}\``,
      most: limits.perTenMinutes,
      windowMs: TEN_MINUTES_MS,
      has: onNode,
    },
    {
      scope: 'namespaceLimit',
      what: `evictions in ten minutes on node \`${node}\` from namespace \`${namespace}\``,
      most: limits.perNamespacePerTenMinutes,
      windowMs: TEN_MINUTES_MS,
      has: (each) => onNode(each) && each.namespace === namespace,
    },
  ];
}

function exceeded(window: Omit<Window, 'has'>, filledBy: readonly CountedEviction[], now: Instant): CountOutcome {
  const { scope, what, most, windowMs } = window;
  const oldest = Math.min(now, ...filledBy.map(({ at }) => at));
  return {
    kind: 'exceeded',
    scope,
    because: { text: `the limit of ${most} ${what} is reached`, facts: { most, count: filledBy.length } },
    // With a limit of 0 nothing ever leaves the window.
    retryAfterMs: filledBy.length === 0 ? windowMs : oldest + windowMs - now,
    filledBy,
  };
}
