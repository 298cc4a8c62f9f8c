import { type Because, reason } from '#shared/domain/model/because.ts';
import { larger, minus, plus, smaller, type Whole } from '#shared/domain/quantity/whole.ts';
import {
  type AllocatedPod,
  type Allocations,
  changeAmount,
  excessAbove,
  preemptingOf,
  type QueueAllocation,
  type Transfer,
  usedLater,
} from './allocation.ts';
import { compareSparedLast } from './queue-pod.ts';
import { type Candidate, smallestSet, type VictimSearch } from './victim-set.ts';

/** What a stage did: `after` is written first, so that no new pod of a giver enters (S4-6), then the victims go. */
export interface StageOutcome {
  readonly after: Allocations;
  readonly victims: readonly StageVictim[];
}

export interface StageVictim {
  readonly pod: AllocatedPod;
  readonly because: Because;
}

const OVERUSE = reason<{ readonly queue: string }>(
  'Overuse',
  ({ queue }) => `queue ${queue} uses more than was allocated to it`,
);
const SHARE = reason<{ readonly queue: string }>(
  'AboveShare',
  ({ queue }) => `queue ${queue} uses more than it deserves, and another queue has less`,
);

/** Both stages of one pass (S4-1). */
export function twoStagePass(state: Allocations): StageOutcome {
  const first = preprocess(state);
  const second = moveToDeserved(first.after);
  return { after: second.after, victims: [...first.victims, ...second.victims] };
}

/** Stage one: no queue uses more than was allocated to it; only pods of that queue go (S4-3). */
export function preprocess(state: Allocations): StageOutcome {
  const victims = state.queues.flatMap((queue) => {
    const types = typesOf(state);
    const used = usedLater(queue);
    const needs = types.map((type) => excessAbove(used, queue.allocated, type));
    const chosen = sufficient({ state, queue, types, needs });
    return chosen.map((pod) => ({ pod, because: OVERUSE({ queue: queue.name }, { queue: queue.name }) }));
  });
  return { after: withTerminating(state, victims), victims };
}

/**
 * Stage two, type by type: what a queue has above what it deserves goes to queues that have less. What no pod uses moves
 * at once (S4-5); for the rest pods go, as many as leave no queue below what it deserves, and the amount is on its way
 * until they are gone (S4-8). At every step what is allocated and what is on its way add up to the total (S4-15).
 */
export function moveToDeserved(state: Allocations): StageOutcome {
  let after = state;
  for (const type of typesOf(state)) after = moveIdle(after, type);
  const victims: StageVictim[] = [];
  for (const { name } of state.queues) {
    const step = freeBusy(after, name);
    after = step.after;
    victims.push(...step.victims);
  }
  return { after, victims };
}

function typesOf({ total }: Allocations): readonly string[] {
  return [...total.keys()];
}

/** What a queue lacks of one type to what it deserves. */
function lackOf(state: Allocations, queue: QueueAllocation, type: string): Whole {
  const has = plus(queue.allocated.get(type) ?? 0, preemptingOf(state, queue.name).get(type) ?? 0);
  const lack = minus(queue.deserved.get(type) ?? 0, has);
  return lack > 0 ? lack : 0;
}

function lackOfAll(state: Allocations, type: string): Whole {
  return state.queues.reduce<Whole>((sum, queue) => plus(sum, lackOf(state, queue, type)), 0);
}

/** First what is allocated to no queue, then what queues have and do not use. Of a total that shrank, that comes off first. */
function moveIdle(state: Allocations, type: string): Allocations {
  const spare = minus(state.total.get(type) as Whole, givenOf(state, type));
  let after = spare > 0 ? give(state, type, smaller(spare, lackOfAll(state, type))) : state;
  let surplus = larger(minus(0, spare), 0);
  for (const { name } of state.queues) {
    const idle = smaller(idleOf(queueNamed(after, name), type), plus(surplus, lackOfAll(after, type)));
    if (idle <= 0) continue;
    const dropped = smaller(idle, surplus);
    surplus = minus(surplus, dropped);
    after = give(changeAllocated(after, name, type, minus(0, idle)), type, minus(idle, dropped));
  }
  return after;
}

/** What is allocated to queues or on the way to them. */
function givenOf(state: Allocations, type: string): Whole {
  return state.queues.reduce<Whole>((sum, { name, allocated }) => {
    return plus(sum, plus(allocated.get(type) ?? 0, preemptingOf(state, name).get(type) ?? 0));
  }, 0);
}

function idleOf(queue: QueueAllocation, type: string): Whole {
  const kept = larger(usedLater(queue).get(type) ?? 0, queue.deserved.get(type) ?? 0);
  return larger(minus(queue.allocated.get(type) ?? 0, kept), 0);
}

/** Divides an amount among those that lack it, in order; none is left over. */
function give(state: Allocations, type: string, amount: Whole): Allocations {
  let after = state;
  let left = amount;
  for (const queue of state.queues) {
    const part = smaller(left, lackOf(state, queue, type));
    if (part <= 0) continue;
    after = changeAllocated(after, queue.name, type, part);
    left = minus(left, part);
  }
  return after;
}

/** Lowers what is allocated to a queue by what its victims free, and sends that to those that lack it. */
function freeBusy(state: Allocations, name: string): StageOutcome {
  const queue = queueNamed(state, name);
  const types = typesOf(state);
  const needs = types.map((type) =>
    smaller(excessAbove(queue.allocated, queue.deserved, type), lackOfAll(state, type)),
  );
  const chosen = victimsAbove({ state, queue, types, needs });
  if (chosen.length === 0) return { after: state, victims: [] };
  const victims = chosen.map((pod) => ({ pod, because: SHARE({ queue: name }, { queue: name }) }));
  let after = withTerminating(state, victims);
  for (const [index, type] of types.entries()) {
    const freed = chosen.reduce<Whole>((sum, { requests }) => plus(sum, requests.get(type) ?? 0), 0);
    after = send(after, { from: name, type, amount: smaller(freed, needs[index] as Whole), victims: chosen });
  }
  return { after, victims };
}

interface Sending {
  readonly from: string;
  readonly type: string;
  readonly amount: Whole;
  readonly victims: readonly AllocatedPod[];
}

function send(state: Allocations, { from, type, amount, victims }: Sending): Allocations {
  const transfers: Transfer[] = [];
  let left = amount;
  for (const queue of state.queues) {
    const part = smaller(left, lackOf(state, queue, type));
    if (part <= 0) continue;
    transfers.push({ from, to: queue.name, amounts: new Map([[type, part]]), victims: victims.map(({ uid }) => uid) });
    left = minus(left, part);
  }
  const lowered = changeAllocated(state, from, type, minus(left, amount));
  return { ...lowered, transfers: [...state.transfers, ...transfers] };
}

interface Choice {
  readonly state: Allocations;
  readonly queue: QueueAllocation;
  readonly types: readonly string[];
  readonly needs: readonly Whole[];
}

/** A smallest set that frees the needs. */
function sufficient({ state, queue, types, needs }: Choice, reserves?: readonly Whole[]): readonly AllocatedPod[] {
  if (needs.every((need) => need <= 0)) return [];
  const search = searchIn({ state, queue, types, needs }, reserves);
  return smallestSet(search) ?? [];
}

function searchIn({ state, queue, types, needs }: Choice, reserves: readonly Whole[] | undefined): VictimSearch {
  const candidates = queue.pods
    .filter(
      (pod) => pod.isTerminating !== true && types.some((type, index) => isOfUse(pod, type, needs[index] as Whole)),
    )
    .toSorted(compareSparedLast)
    .map((pod): Candidate => {
      const gives = types.map((type) => pod.requests.get(type) ?? 0);
      const costs = gives.flatMap((amount, index): [number, Whole][] =>
        (needs[index] as Whole) > 0 ? [[index, amount]] : [],
      );
      return { pod, profile: { gives, costs: reserves === undefined ? [] : costs } };
    });
  const options = {
    budgets: state.budgets,
    maxSize: Infinity,
    accepts: () => true,
    areProfilesEqual: false,
    work: { stepsLeft: Infinity },
  };
  return { candidates, needs, reserves: reserves ?? [], ...options };
}

function isOfUse(pod: AllocatedPod, type: string, need: Whole): boolean {
  return need > 0 && (pod.requests.get(type) ?? 0) > 0;
}

/**
 * Victims that leave the queue at or above what it deserves in every type of which it gives: a smallest set that frees all,
 * or else, in order, whoever frees a part.
 */
function victimsAbove(choice: Choice): readonly AllocatedPod[] {
  const { needs, queue, types } = choice;
  if (needs.every((need) => need <= 0)) return [];
  const used = usedLater(queue);
  const reserves = types.map((type) => excessAbove(used, queue.deserved, type));
  const all = sufficient(choice, reserves);
  if (all.length > 0) return all;
  const { budgets, candidates } = searchIn(choice, reserves);
  const left = [...reserves];
  const allowed = new Map(budgets);
  const chosen: AllocatedPod[] = [];
  for (const { pod, profile } of candidates) {
    const mayGo = pod.budgets.every((budget) => (allowed.get(budget) ?? Infinity) >= 1);
    if (!mayGo || profile.costs.some(([index, amount]) => amount > (left[index] as Whole))) continue;
    for (const [index, amount] of profile.costs) left[index] = minus(left[index] as Whole, amount);
    for (const budget of pod.budgets) allowed.set(budget, (allowed.get(budget) ?? Infinity) - 1);
    chosen.push(pod);
  }
  return chosen;
}

function withTerminating(state: Allocations, victims: readonly StageVictim[]): Allocations {
  const going = new Set(victims.map(({ pod }) => pod.uid));
  const queues = state.queues.map((queue) => ({
    ...queue,
    pods: queue.pods.map((pod) => (going.has(pod.uid) ? { ...pod, isTerminating: true } : pod)),
  }));
  return { ...state, queues };
}

function changeAllocated(state: Allocations, name: string, type: string, by: Whole): Allocations {
  const change = (queue: QueueAllocation): QueueAllocation =>
    queue.name === name ? { ...queue, allocated: changeAmount(queue.allocated, type, by) } : queue;
  return { ...state, queues: state.queues.map(change) };
}

function queueNamed({ queues }: Allocations, name: string): QueueAllocation {
  return queues.find((queue) => queue.name === name) as QueueAllocation;
}
