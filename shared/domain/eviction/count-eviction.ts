import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Because } from '#shared/domain/base/because.ts';
import {
  type Account,
  type Debit,
  debitsIn,
  liveDebits,
  fits,
  type RuleWindow,
  type Wanted,
} from '#shared/domain/disruption/account.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type EvictionLimits, type EvictionUrgency, limitsFor } from './eviction-limits.ts';

/*
 * The windows of our own evictions, by node and in the cluster. They are windows of one DisruptionAccount for all
 * namespaces (docs/contributing/decisions/own-evictions.md): a debit names the windows that look at it as its rules.
 */

/** An eviction that one of our own accounts asks for. */
export interface WantedEviction extends Omit<Wanted, 'cause'> {
  readonly namespace: string;
  /** Empty for an account that no node's limits bind. */
  readonly node: string;
  /** UID of the pod's controller; `undefined` without one. */
  readonly owner: string | undefined;
}

/** How many evictions may be let through. */
export interface EvictionBounds {
  /** Limits of the node; with `undefined` only the cluster's limit applies. */
  readonly limits: EvictionLimits | undefined;
  /** Limit for the whole cluster, per minute. */
  readonly inClusterPerMinute: number;
  /** As the agent reports; in the last chance the cluster's limit yields once a minute for each node. */
  readonly urgency?: EvictionUrgency | undefined;
}

export type CountOutcome =
  | { readonly kind: 'counted'; readonly account: Account }
  | {
      readonly kind: 'exceeded';
      readonly scope: 'nodeLimit' | 'namespaceLimit' | 'clusterLimit';
      readonly because: Pick<Because, 'text' | 'facts'>;
      /** Until the window has room again. */
      readonly retryAfterMs: number;
      /** The evictions that fill the window. */
      readonly filledBy: Account;
    };

const TEN_MINUTES_MS = 600_000;

type ExceededWindow = Extract<CountOutcome, { kind: 'exceeded' }>;

interface Window extends Pick<ExceededWindow, 'scope'>, RuleWindow {
  readonly what: string;
  readonly most: number;
}

const CLUSTER = 'cluster';

/**
 * Debits an eviction to the account, unless a limit is reached. Evicting the same pod again is the same eviction; a
 * time in the future, from a clock that is ahead, counts as now.
 */
export function countEviction(before: Account, wanted: WantedEviction, bounds: EvictionBounds): CountOutcome {
  const { at, uid } = wanted;
  const recent = liveDebits(before, at);
  if (recent.some((each) => each.uid === uid)) return { kind: 'counted', account: recent };
  const ofNode = bounds.limits === undefined ? [] : nodeWindows(wanted, limitsFor(bounds.urgency, bounds.limits));
  const spent = firstFull(ofNode, recent, at) ?? fullAccount(recent, wanted);
  if (spent !== undefined) return spent;
  const beyond = firstFull([clusterWindow(bounds)], recent, at) ?? takenShare(recent, wanted, bounds);
  if (beyond === undefined) return { kind: 'counted', account: [...recent, debitOf(wanted, undefined)] };
  return yieldsTo(wanted, recent, bounds)
    ? { kind: 'counted', account: [...recent, debitOf(wanted, CLUSTER)] }
    : beyond;
}

function debitOf({ node, owner, at, ...wanted }: WantedEviction, overran: string | undefined): Debit {
  const ofOwner = owner === undefined ? [] : [ownerKey(owner)];
  const rules = [CLUSTER, nodeKey(node), namespaceKey(node, wanted.namespace), ...ofOwner];
  return { ...wanted, at, rules, lapsesAt: at + TEN_MINUTES_MS, cause: undefined, overran };
}

function nodeKey(node: string): string {
  return `node/${node}`;
}

function namespaceKey(node: string, namespace: string): string {
  return `node/${node}/${namespace}`;
}

function ownerKey(owner: string): string {
  return `owner/${owner}`;
}

function firstFull(windows: readonly Window[], recent: Account, now: Instant): CountOutcome | undefined {
  for (const window of windows) {
    const inside = debitsIn(recent, window, now);
    if (inside.length >= window.most) return exceeded(window, inside, now);
  }
  return undefined;
}

/**
 * Whether the limit of the cluster yields, in the last chance of a node. Only the node itself knows that it is its last
 * chance, so the limit yields to one eviction a minute for each node; a limit of 0 never yields.
 */
function yieldsTo(
  { at, node }: WantedEviction,
  recent: Account,
  { limits, inClusterPerMinute, urgency }: EvictionBounds,
): boolean {
  if (urgency !== 'LastChance' || limits === undefined || inClusterPerMinute === 0) return false;
  const ofNode = debitsIn(recent, { key: nodeKey(node), windowMs: MINUTE_MS }, at);
  return !ofNode.some(({ overran }) => overran !== undefined);
}

/**
 * No node and no owner may use up the limit of the cluster: each may hold as much of it as is left for the others, as
 * in webhook/request-body/fair-queue.ts.
 */
function takenShare(
  recent: Account,
  { at, node, owner }: WantedEviction,
  bounds: EvictionBounds,
): CountOutcome | undefined {
  const inside = debitsIn(recent, { key: CLUSTER, windowMs: MINUTE_MS }, at);
  const left = bounds.inClusterPerMinute - inside.length;
  const ofOwner = owner === undefined ? [] : [{ key: ownerKey(owner), who: 'one owner' }];
  const shares = [{ key: nodeKey(node), who: `node \`${node}\`` }, ...ofOwner].map(({ key, who }): Window => ({
    scope: 'clusterLimit',
    key,
    what: `evictions a minute in the cluster that ${who} may use`,
    most: left,
    windowMs: MINUTE_MS,
  }));
  return firstFull(shares, recent, at);
}

function clusterWindow({ inClusterPerMinute: most }: EvictionBounds): Window {
  return { scope: 'clusterLimit', key: CLUSTER, what: 'evictions a minute in the cluster', most, windowMs: MINUTE_MS };
}

/** A full account would have to drop evictions that a window still counts. */
function fullAccount(recent: Account, wanted: WantedEviction): CountOutcome | undefined {
  if (fits([...recent, debitOf(wanted, undefined)])) return undefined;
  const what = 'evictions in ten minutes in the cluster';
  const window = { scope: 'clusterLimit', key: CLUSTER, what, most: recent.length, windowMs: TEN_MINUTES_MS } as const;
  return exceeded(window, recent, wanted.at);
}

function nodeWindows({ node, namespace }: WantedEviction, limits: EvictionLimits): readonly Window[] {
  return [
    {
      scope: 'nodeLimit',
      key: nodeKey(node),
      what: `evictions a minute on node \`${node}\``,
      most: limits.perMinute,
      windowMs: MINUTE_MS,
    },
    {
      scope: 'nodeLimit',
      key: nodeKey(node),
      what: `evictions in ten minutes on node \`${node}\``,
      most: limits.perTenMinutes,
      windowMs: TEN_MINUTES_MS,
    },
    {
      scope: 'namespaceLimit',
      key: namespaceKey(node, namespace),
      what: `evictions in ten minutes on node \`${node}\` from namespace \`${namespace}\``,
      most: limits.perNamespacePerTenMinutes,
      windowMs: TEN_MINUTES_MS,
    },
  ];
}

function exceeded(window: Window, filledBy: Account, now: Instant): CountOutcome {
  const { scope, what, most, windowMs } = window;
  const oldest = Math.min(now, ...filledBy.map(({ at }) => at));
  return {
    kind: 'exceeded',
    scope,
    because: { text: `the limit of ${most} ${what} is reached`, facts: { most, count: filledBy.length } },
    // With a limit of 0 the window never has room.
    retryAfterMs: filledBy.length === 0 ? windowMs : oldest + windowMs - now,
    filledBy,
  };
}
