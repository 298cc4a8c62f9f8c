import { type RunningGang, spareMembers } from '#shared/domain/gang/gang-cost.ts';
import { memoize } from '#shared/domain/base/memoize.ts';
import { amountAt, minus, type Whole } from '#shared/domain/quantity/whole.ts';
import { candidatesAmong, type Givers, type GivingNode, goingOrder, lossProfile, needsOn } from './givers.ts';
import type { RunningPod } from './queue-pod.ts';
import { findObjection, VICTIM_RULES } from './reclaim-rules.ts';
import { totalRequests } from './usage.ts';
import { type Profile, type SearchWork, smallestSet } from './victim-set.ts';

/** As in `ReclaimQuestion`. */
interface GangQuestion {
  readonly nodes: readonly GivingNode[];
  readonly budgets: ReadonlyMap<string, number>;
  readonly gangs?: readonly RunningGang<RunningPod>[];
  readonly fits?: (node: string, victims: readonly Pick<RunningPod, 'uid'>[]) => boolean;
}

/** A gang all of whose pods may go, as numbers. */
interface GangVictim {
  readonly gang: RunningGang<RunningPod>;
  readonly profile: Profile;
  readonly budgets: ReadonlyMap<string, number>;
}

interface GangSet {
  readonly node: string;
  /** Those on the node come first. */
  readonly victims: readonly RunningPod[];
}

const GANGS_PER_STEP = 20;

/**
 * Sets with one whole gang, for when pods that cost no gang do not make room: the smallest gang that breaks no rule with
 * all of its pods, wherever they run, and what else is needed on a node of it.
 */
export function* gangSets(question: GangQuestion, givers: Givers, work: SearchWork) {
  const inOrder = (question.gangs ?? []).toSorted(compareGangs(goingOrder(givers)));
  for (const [index, gang] of inOrder.entries()) {
    if (index % GANGS_PER_STEP === GANGS_PER_STEP - 1) yield;
    const victim = asVictim(question, givers, gang);
    if (victim === undefined) continue;
    const names = new Set(gang.running.map(({ node }) => node));
    const nodes = question.nodes.filter(({ name }) => names.has(name));
    const sets = nodes.flatMap((node) => setOn(question, givers, { node, victim, work }));
    const [best] = sets.sort((a, b) => a.victims.length - b.victims.length);
    if (best !== undefined) return best;
  }
  return undefined;
}

/** Gangs that asked to be spared last, then the one that loses least. */
function compareGangs(order: ReturnType<typeof goingOrder>) {
  const spared = ({ running }: RunningGang<RunningPod>): number => Number(running.some((pod) => !pod.mayBePreempted));
  const last = memoize(({ running }: RunningGang<RunningPod>): RunningPod =>
    running.reduce((later, pod) => (order(later, pod) > 0 ? later : pod)),
  );
  return (a: RunningGang<RunningPod>, b: RunningGang<RunningPod>): number =>
    spared(a) - spared(b) || a.running.length - b.running.length || order(last(a), last(b));
}

/** Nothing if a rule keeps one of its pods, if its queue would lose too much, or if a budget does not allow all of them. */
function asVictim(question: GangQuestion, givers: Givers, gang: RunningGang<RunningPod>): GangVictim | undefined {
  const [{ queue } = { queue: '' }] = gang.running;
  const isKept = (pod: RunningPod): boolean =>
    pod.isKept === true || pod.queue !== queue || findObjection(VICTIM_RULES, pod, givers.taker) !== undefined;
  // Of a gang that has lost pods to others in this round, none is taken as a whole.
  const isUntouched = question.budgets.get(gangBudget(gang.key)) === spareMembers(gang);
  if (!isUntouched || gang.running.some(isKept)) return undefined;
  const budgets = spentBudgets(question.budgets, gang);
  const profile = budgets && lossProfile(givers, queue, totalRequests(gang.running));
  return profile === undefined || budgets === undefined ? undefined : { gang, profile, budgets };
}

function spentBudgets(budgets: GangQuestion['budgets'], { key, running }: RunningGang<RunningPod>) {
  const left = new Map(budgets);
  left.delete(gangBudget(key));
  for (const name of running.flatMap((pod) => pod.budgets)) {
    const allowed = left.get(name);
    if (allowed !== undefined && allowed < 1) return undefined;
    if (allowed !== undefined) left.set(name, allowed - 1);
  }
  return left;
}

/** What limits how many of its pods may go one by one is named as a budget is. */
export function gangBudget(key: string): string {
  return `gang ${key}`;
}

interface GangOnNode {
  readonly node: GivingNode;
  readonly victim: GangVictim;
  readonly work: SearchWork;
}

function setOn(
  { fits }: GangQuestion,
  givers: Givers,
  { node, victim: { gang, profile, budgets }, work }: GangOnNode,
): readonly GangSet[] {
  const own = node.pods.filter((pod) => pod.ofGang === gang);
  if (own.length === 0) return [];
  const freed = totalRequests(own);
  const { types } = givers.taker;
  // Of a type only what runs on this node helps here, of a crowded queue above all that the gang gives.
  const given = profile.gives.map((amount, need) =>
    need < types.length ? (freed.get(types[need] ?? '') ?? 0) : amount,
  );
  const needs = needsOn(givers, node.free).map((need, index) => minus(need, given[index] ?? 0));
  const rest = gang.running.filter((pod) => !own.includes(pod));
  const accepts = (victims: readonly RunningPod[]): boolean => fits?.(node.name, [...own, ...victims]) !== false;
  const others = needs.every((need) => need <= 0)
    ? []
    : othersOn(givers, { node, gang, needs, profile, budgets, accepts, work });
  return others === undefined || !accepts(others) ? [] : [{ node: node.name, victims: [...own, ...others, ...rest] }];
}

interface OthersOnNode extends Pick<GangVictim, 'gang' | 'profile' | 'budgets'> {
  readonly node: GivingNode;
  readonly needs: readonly Whole[];
  readonly accepts: (victims: readonly RunningPod[]) => boolean;
  readonly work: SearchWork;
}

function othersOn(givers: Givers, { node, gang, profile, budgets, ...search }: OthersOnNode) {
  const pods = node.pods.filter((pod) => pod.ofGang !== gang);
  const order = goingOrder(givers);
  const candidates = candidatesAmong(givers, pods, true).toSorted((a, b) => order(a.pod, b.pod));
  const reserves = [...givers.reserves];
  for (const [reserve, amount] of profile.costs) reserves[reserve] = minus(amountAt(reserves, reserve), amount);
  return smallestSet({ ...search, candidates, reserves, budgets, maxSize: Infinity, areProfilesEqual: false });
}
