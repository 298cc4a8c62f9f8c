import type { Because } from '#shared/domain/base/because.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { hasCondition } from '#shared/domain/pod/pod-conditions.ts';
import { ownerText, type Pod } from '#shared/domain/pod/pod.ts';
import { askBudgets, type BudgetAnswer, budgetsToAsk } from '#shared/domain/eviction/ask-budgets.ts';
import type { BudgetEntry, PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { formerNodes, type OwnerMemory, type ReschedulingMemory, unplacedMoves } from './memory.ts';
import { REASONS } from './messages.ts';
import type { OwnerGroup } from './owner-groups.ts';
import type { PassCluster } from './pass-cluster.ts';
import type { Restraint } from './policy.ts';
import type { MovablePod } from './running-pod.ts';

/** A rate that a PodDisruptionBudget cannot express: how many more pods may be removed now. */
export interface RemovalRate {
  readonly name: string;
  readonly left: number;
}

/** The limits that cover a pod; the same object for all of their pods. */
export type LimitsOf = (pod: Pod) => readonly RemovalRate[];

/** In milliseconds: within it, only a share of an owner's pods may be disrupted, for any reason. */
export const OWNER_WINDOW_MS = 300_000;

/** The limits on moves, counted over one pass. */
export interface PassRestraints {
  /** Why a pod must not be moved now; `undefined` if it may. */
  readonly holds: (pod: MovablePod) => Because | undefined;
  /** Counts a planned move. */
  readonly debit: (pod: MovablePod) => void;
  readonly memoryOf: (owner: OwnerGroup) => OwnerMemory | undefined;
  /** When the owner was last disrupted, as far as its pods show. */
  readonly disruptedAt: (owner: OwnerGroup) => number;
  readonly formerNodesOf: (owner: OwnerGroup) => ReadonlySet<string>;
}

interface OwnerCount {
  readonly recent: number;
  readonly ready: number;
  readonly present: number;
  readonly youngest: number;
}

/** Starts the counting for a pass: budgets with the share that is left unused, limits, and the windows of owners. */
export function openAccount(
  cluster: PassCluster,
  memory: ReschedulingMemory,
  { restraint, limitsOf }: { readonly restraint: Restraint; readonly limitsOf: LimitsOf },
): PassRestraints {
  const planned = new Map<OwnerGroup, number>();
  const debits = new Map<object, number>();
  const counts = new Map<OwnerGroup, OwnerCount>();
  const memoryOf = ({ id }: OwnerGroup) => memory.owners.get(id);
  const countOf = (owner: OwnerGroup): OwnerCount => {
    const count = counts.get(owner) ?? countOwner(owner, memoryOf(owner), cluster.now);
    counts.set(owner, count);
    return count;
  };
  const used = (key: object): number => debits.get(key) ?? 0;
  return {
    memoryOf,
    disruptedAt: (owner) => countOf(owner).youngest,
    formerNodesOf: (owner) => formerNodes(memoryOf(owner)),
    holds: (pod) => {
      const { owner, placed } = pod;
      const count = { ...countOf(owner), planned: planned.get(owner) ?? 0 };
      return (
        whyOwnerWaits(owner, memoryOf(owner), count, restraint) ??
        whyBudget(askFor(cluster, placed), restraint, used) ??
        whyLimit(limitsOf(placed.pod), used)
      );
    },
    debit: ({ owner, placed }) => {
      planned.set(owner, (planned.get(owner) ?? 0) + 1);
      for (const key of [...countedBudgets(cluster, placed), ...limitsOf(placed.pod)]) debits.set(key, used(key) + 1);
    },
  };
}

function countOwner({ pods }: OwnerGroup, memory: OwnerMemory | undefined, now: number): OwnerCount {
  const staying = pods.filter(({ pod }) => pod.deletion === undefined);
  const since = (now - OWNER_WINDOW_MS) / 1_000;
  const young = staying.filter(({ startedAt = Infinity }) => startedAt > since);
  const lastMove = memory?.moves.at(-1)?.at ?? 0;
  return {
    recent: young.length + pods.length - staying.length + unplacedMoves(memory, staying.length),
    ready: staying.filter(({ pod }) => isReady(pod)).length,
    present: staying.length,
    youngest: Math.max(lastMove, ...staying.map(({ startedAt = Infinity }) => startedAt * 1_000)),
  };
}

/** Whether the pod serves. */
export function isReady(pod: Pod): boolean {
  return pod.status.phase === 'Running' && hasCondition(pod, 'Ready');
}

function whyOwnerWaits(
  { key }: OwnerGroup,
  memory: OwnerMemory | undefined,
  { planned, present, ready, recent }: OwnerCount & { readonly planned: number },
  { ownerShare }: Restraint,
): Because | undefined {
  const owner = ownerText(key);
  if (memory?.stop !== undefined) return REASONS.ownerStopped({ text: memory.stop.text }, { owner });
  if (unplacedMoves(memory, present) > 0) return REASONS.ownerWaits({ owner });
  const most = Math.max(1, Math.floor(present * ownerShare));
  if (recent + planned >= most) return REASONS.ownerWindow({ owner, recent: recent + planned, most });
  return ready - planned <= 1 ? REASONS.lastReadyReplica({ owner }) : undefined;
}

interface AskedBudgets {
  readonly answer: BudgetAnswer;
  readonly entries: readonly BudgetEntry[];
}

function askFor({ snapshot }: PassCluster, placed: PlacedPod): AskedBudgets {
  const entries = budgetsToAsk(snapshot, placed);
  const budgets = entries.map(({ budget }) => budget);
  return { entries, answer: askBudgets(placed.pod, budgets) };
}

/** The budget of which a move of the pod uses a disruption, if there is one. */
function countedBudgets(cluster: PassCluster, placed: PlacedPod): readonly BudgetEntry[] {
  const { answer, entries } = askFor(cluster, placed);
  return answer.kind === 'Counted' ? entries : [];
}

function whyBudget(
  { answer, entries: [entry] }: AskedBudgets,
  { unusedShare, leastUnused }: Restraint,
  used: (key: object) => number,
): Because | undefined {
  if (answer.kind === 'Free' || entry === undefined) return undefined;
  if (answer.kind === 'Refused' && answer.why !== 'Spent') return whyUnusable(answer);
  const { disruptionsAllowed: allowed, name } = entry.budget;
  const unused = Math.max(leastUnused, Math.floor(allowed * unusedShare));
  if (allowed - unused - used(entry) >= 1) return undefined;
  return REASONS.budgetSpent({ budget: name, allowed: allowed - used(entry), unused });
}

function whyUnusable({ why, budgets }: Extract<BudgetAnswer, { readonly kind: 'Refused' }>): Because {
  const names = budgets
    .map(({ name }) => name)
    .sort(compareTexts)
    .join(', ');
  return why === 'Several' ? REASONS.severalBudgets({ budgets: names }) : REASONS.budgetUnsettled({ budget: names });
}

function whyLimit(limits: readonly RemovalRate[], used: (key: object) => number): Because | undefined {
  const spent = limits.find((limit) => limit.left - used(limit) < 1);
  if (spent === undefined) return undefined;
  const found = { limit: spent.name, left: spent.left - used(spent) };
  return REASONS.limitReached(found, found);
}
