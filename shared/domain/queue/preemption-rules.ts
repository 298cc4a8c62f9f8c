import type { Because } from '#shared/domain/base/because.ts';
import type { KeepTogether } from '#shared/domain/preemption/proposal/proposal.ts';
import { times, type Whole } from '#shared/domain/quantity/whole.ts';
import {
  findObjection,
  GIVER_RULES,
  type ReclaimRule,
  type ReclaimRuleCode,
  type Loss,
  LOSS_RULES,
  TAKER_RULES,
} from './reclaim-rules.ts';
import { pathOf } from './queue-tree.ts';
import type { Taker } from './taker.ts';
import { addAmounts } from './usage.ts';

/** The rules of reclaim for queues that switch preemption off or limit it to a part of the tree. */
const POLICIES: readonly ReclaimRuleCode[] = ['TakerDisabled', 'OutsideFence', 'GiverDisabled'];
const isOfPolicy = ({ code }: { readonly code: ReclaimRuleCode }): boolean => POLICIES.includes(code);
const TAKER_POLICIES = TAKER_RULES.filter(isOfPolicy);
const GIVER_POLICIES = GIVER_RULES.filter(isOfPolicy);

/** What the queue of a pod loses with it; `undefined` for a pod without a queue. */
interface LossOf<Pod> {
  (pod: Pod): Loss | undefined;
}

/**
 * Which pods of a node the queues protect from a preemption by priority for one pod, and why. All other pods may be
 * preempted together: no queue is then below its guarantee in a type that it loses, and none loses to a queue that a
 * fence or `Disabled` keeps away. If the proposed pods may be preempted together, none of them is protected. Preemption
 * within a queue is allowed, and a guarantee above both queues loses nothing. Mechanisms S2-10, S2-15, S2-32.
 */
export function createQueueRules<Pod>(taker: Taker, lossOf: LossOf<Pod>): KeepTogether<Pod> {
  const judge = { taker, policies: new Map<number, Because | undefined>() };
  const mayGo = judgedOnce(judge);
  return ({ proposed, others }) => {
    const losses = countLosses(proposed, lossOf);
    const keepsProposed = !mayGo(losses);
    const keepOthers = (): ReadonlyMap<Pod, Because> => {
      const tally: LossTally = new Map();
      if (!keepsProposed) takeAll(judge, tally, losses);
      const going = new Set(keepsProposed ? [] : proposed);
      return keptAmong(
        others().filter((pod) => !going.has(pod)),
        (pod) => take(judge, tally, lossOf(pod)),
      );
    };
    let kept: ReadonlyMap<Pod, Because> | undefined;
    return { keepsProposed, whyKept: (pod) => (kept ??= keepOthers()).get(pod) };
  };
}

/** How many pods there are of each loss. */
type Losses = ReadonlyMap<Loss, number>;

function countLosses<Pod>(pods: readonly Pod[], lossOf: LossOf<Pod>): Losses {
  const counts = new Map<Loss, number>();
  for (const pod of pods) {
    const loss = lossOf(pod);
    if (loss !== undefined) counts.set(loss, (counts.get(loss) ?? 0) + 1);
  }
  return counts;
}

/** Whether losses break no rule together. On most nodes as many pods of one kind would go, which is judged once. */
function judgedOnce(judge: Judge): (losses: Losses) => boolean {
  const known = new Map<Loss, Map<number, boolean>>();
  return (losses) => {
    const [first] = losses;
    if (first === undefined || losses.size > 1) return takeAll(judge, new Map(), losses);
    const [loss, count] = first;
    const answers = known.get(loss) ?? new Map<number, boolean>();
    const answer = answers.get(count) ?? takeAll(judge, new Map(), losses);
    known.set(loss, answers.set(count, answer));
    return answer;
  };
}

function keptAmong<Pod>(pods: readonly Pod[], whyKept: (pod: Pod) => Because | undefined): ReadonlyMap<Pod, Because> {
  return new Map(
    pods.flatMap((pod): [Pod, Because][] => {
      const because = whyKept(pod);
      return because === undefined ? [] : [[pod, because]];
    }),
  );
}

interface Judge {
  readonly taker: Taker;
  /** The rule that protects all pods of a queue, by its number. */
  readonly policies: Map<number, Because | undefined>;
}

/** What queues would lose in total, by number. */
type LossTally = Map<number, Map<string, Whole>>;

/** Adds all losses if they break no rule together. */
function takeAll(judge: Judge, tally: LossTally, losses: Losses): boolean {
  for (const [loss, count] of losses) if (take(judge, tally, timesLoss(loss, count)) !== undefined) return false;
  return true;
}

function timesLoss({ queue, amounts }: Loss, count: number): Loss {
  if (count === 1) return { queue, amounts };
  return { queue, amounts: new Map(Array.from(amounts, ([type, amount]) => [type, times(amount, count)])) };
}

/** Adds a loss that breaks no rule; otherwise returns the rule that it breaks. */
function take(judge: Judge, tally: LossTally, loss: Loss | undefined): Because | undefined {
  const { taker } = judge;
  if (loss === undefined || loss.queue === taker.queue) return undefined;
  const policy = policyAgainst(judge, loss.queue);
  if (policy !== undefined) return policy;
  const losses = pathOf(taker.tree, loss.queue)
    .filter((queue) => !taker.above.has(queue))
    .map((queue) => ({ queue, amounts: sumOf(tally.get(queue), loss.amounts) }));
  for (const each of losses) {
    const rule = findObjection(LOSS_RULES, each, taker);
    if (rule !== undefined) return because(rule, each, taker);
  }
  for (const { queue, amounts } of losses) tally.set(queue, amounts);
  return undefined;
}

function policyAgainst({ taker, policies }: Judge, queue: number): Because | undefined {
  if (policies.has(queue)) return policies.get(queue);
  const [ofTaker, ofGiver] = [findObjection(TAKER_POLICIES, taker, taker), findObjection(GIVER_POLICIES, queue, taker)];
  const found = ofTaker === undefined ? ofGiver && because(ofGiver, queue, taker) : because(ofTaker, taker, taker);
  policies.set(queue, found);
  return found;
}

function sumOf(before: ReadonlyMap<string, Whole> | undefined, amounts: Loss['amounts']): Map<string, Whole> {
  const sum = new Map(before);
  addAmounts(sum, amounts);
  return sum;
}

function because<Subject>(rule: ReclaimRule<Subject>, subject: Subject, taker: Taker): Because {
  const { code, row } = rule;
  return { code, text: rule.text(subject, taker), facts: { row, queue: taker.pod.queue } };
}
