import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { EvictionLimits } from './eviction-limits.ts';

/** An eviction that was let through. */
export interface CountedEviction {
  readonly at: Instant;
  /** Empty for one that is bound to no node's limits. */
  readonly node: string;
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  /** What was short, as the agent says; evictions for one resource use up no window of another. */
  readonly resource?: CountedResource | undefined;
}

/** What an agent evicts for. */
export type CountedResource = 'memory' | 'pids' | 'cpu';

/** How many evictions may be let through. */
export interface EvictionBounds {
  /** Of the node; `undefined` binds the cluster's limit alone. */
  readonly limits: EvictionLimits | undefined;
  /** In the whole cluster, in a minute. */
  readonly inClusterPerMinute: number;
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
  for (const window of windowsOf(wanted, bounds)) {
    const inside = recent.filter((each) => wanted.at - each.at < window.windowMs && window.has(each));
    if (inside.length >= window.most) return exceeded(window, inside, wanted.at);
  }
  return { kind: 'counted', counted: [...recent, wanted] };
}

/** Those that a window still looks at. */
function recentEvictions(counted: readonly CountedEviction[], now: Instant): readonly CountedEviction[] {
  const sane = counted.map((each) => (each.at > now ? { ...each, at: now } : each));
  return sane.filter(({ at }) => now - at < TEN_MINUTES_MS);
}

function windowsOf(wanted: CountedEviction, { limits, inClusterPerMinute }: EvictionBounds): readonly Window[] {
  const cluster: Window = {
    scope: 'clusterLimit',
    what: 'evictions a minute in the cluster',
    most: inClusterPerMinute,
    windowMs: MINUTE_MS,
    has: () => true,
  };
  return [...(limits === undefined ? [] : nodeWindows(wanted, limits)), cluster];
}

function nodeWindows({ node, namespace, resource }: CountedEviction, limits: EvictionLimits): readonly Window[] {
  const onNode = (each: CountedEviction): boolean => each.node === node && each.resource === resource;
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

function exceeded(window: Window, filledBy: readonly CountedEviction[], now: Instant): CountOutcome {
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
