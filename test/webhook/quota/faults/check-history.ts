import {
  LIMITED,
  NO_COST,
  type Cost,
  type HistoryEntry,
  type Limited,
  type PodEntry,
  type QuotaEntry,
} from './history.ts';

/** What a quota counts, in the words of the run and not of the code under test. */
export interface CountedByQuota {
  readonly name: string;
  readonly classes: ReadonlySet<string>;
  readonly namespaces: ReadonlySet<string>;
}

export interface CheckOptions {
  readonly quotas: readonly CountedByQuota[];
  /** No request took longer than this: a pod stored now was checked against limits no older. */
  readonly longestRequestMs: number;
}

/** What the history of a run came to. */
export interface Verdict {
  /** Broken laws, each with its revision; the first hundred. */
  readonly violations: readonly string[];
  readonly revisions: number;
  readonly quotas: Readonly<Record<string, QuotaVerdict>>;
}

export interface QuotaVerdict {
  /** The most that pods cost together at any revision. */
  readonly peak: Cost;
  /** At the end of the history. */
  readonly truth: Cost;
  readonly used: Partial<Cost>;
  readonly reservations: number;
}

const MAX_VIOLATIONS = 100;

/**
 * Replays every revision: the pods that live never cost more than the limit allowed when the last of them was admitted,
 * and `used` is never less than they cost. Lowering a limit removes no pods, so only growth is checked against it.
 */
export function checkHistory(entries: readonly HistoryEntry[], { quotas, longestRequestMs }: CheckOptions): Verdict {
  const violations: string[] = [];
  const accounts = quotas.map((quota) => createAccount(quota, longestRequestMs));
  for (const entry of entries) {
    for (const account of accounts) violations.push(...account.take(entry));
  }
  return {
    violations: violations.slice(0, MAX_VIOLATIONS),
    revisions: entries.length,
    quotas: Object.fromEntries(accounts.map((account) => [account.name, account.verdict()])),
  };
}

interface PastLimit {
  readonly hard: Partial<Cost>;
  readonly replacedAt: number;
}

function createAccount(quota: CountedByQuota, longestRequestMs: number) {
  const living = new Map<string, Cost>();
  let truth = NO_COST;
  let peak = NO_COST;
  let current: QuotaEntry | undefined;
  let past: PastLimit[] = [];

  function take(entry: HistoryEntry): string[] {
    return entry.kind === 'pod' ? takePod(entry) : takeQuota(entry);
  }

  function takePod(entry: PodEntry): string[] {
    if (!quota.classes.has(entry.className) || !quota.namespaces.has(entry.namespace)) return [];
    const before = living.get(entry.uid) ?? NO_COST;
    if (entry.isGone) living.delete(entry.uid);
    else living.set(entry.uid, entry.cost);
    const grown = LIMITED.filter((name) => entry.cost[name] > before[name]);
    truth = combine((name) => truth[name] + entry.cost[name] - before[name]);
    peak = combine((name) => Math.max(peak[name], truth[name]));
    return grown.flatMap((name) => [...overLimit(name, entry), ...underTruth(name, entry.revision)]);
  }

  function takeQuota(entry: QuotaEntry): string[] {
    if (entry.name !== quota.name) return [];
    if (current !== undefined) past.push({ hard: current.hard, replacedAt: entry.at });
    past = past.filter(({ replacedAt }) => entry.at - replacedAt <= longestRequestMs);
    current = entry;
    return LIMITED.flatMap((name) => underTruth(name, entry.revision));
  }

  function overLimit(name: Limited, { revision, at, name: pod }: PodEntry): string[] {
    if (current === undefined) return [];
    const inForce = past.filter(({ replacedAt }) => at - replacedAt <= longestRequestMs);
    const most = Math.max(...[current, ...inForce].map(({ hard }) => hard[name] ?? Infinity));
    if (truth[name] <= most) return [];
    return [`revision ${revision}: ${quota.name}: with pod ${pod} ${name} is ${truth[name]}, at most ${most} may be`];
  }

  function underTruth(name: Limited, revision: number): string[] {
    const used = current?.isCounted === true ? current.used[name] : undefined;
    if (used === undefined || used >= truth[name]) return [];
    return [`revision ${revision}: ${quota.name}: used says ${name} is ${used}, the pods cost ${truth[name]}`];
  }

  return {
    name: quota.name,
    take,
    verdict: (): QuotaVerdict => ({
      peak,
      truth,
      used: current?.used ?? {},
      reservations: current?.reservations ?? 0,
    }),
  };
}

function combine(amount: (name: Limited) => number): Cost {
  return { pods: amount('pods'), 'requests.memory': amount('requests.memory') };
}
