import type { Because } from '#shared/domain/model/because.ts';
import type { KeepTogether } from '#shared/domain/preemption/proposal/kept-together.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import {
  findObjection,
  GIVER_LAWS,
  type Law,
  type LawCode,
  type Loss,
  LOSS_LAWS,
  type Taker,
  TAKER_LAWS,
} from './laws.ts';
import { pathOf } from './queue-tree.ts';
import { addAmounts } from './usage.ts';

/** The laws of reclaim about queues that switch preemption off or limit it to a part of the tree. */
const POLICIES: readonly LawCode[] = ['TakerDisabled', 'OutsideFence', 'GiverDisabled'];
const isOfPolicy = ({ code }: { readonly code: LawCode }): boolean => POLICIES.includes(code);
const TAKER_POLICIES = TAKER_LAWS.filter(isOfPolicy);
const GIVER_POLICIES = GIVER_LAWS.filter(isOfPolicy);

/** What the queue of a pod loses with it; `undefined` for a pod that counts for no queue. */
interface LossOf<Pod> {
  (pod: Pod): Loss | undefined;
}

/**
 * Which pods of a node the queues keep from a preemption by priority for one pod, and why. All that may go may go
 * together: no queue is then below its guarantee in a type that it loses of, and none loses to a queue that a fence or
 * `Disabled` keeps away. Where the proposed pods may go together, none of them is kept. A queue may preempt in itself, and
 * a guarantee above both queues loses nothing. Mechanisms S2-10, S2-15, S2-32.
 */
export function createQueueLaws<Pod>(taker: Taker, lossOf: LossOf<Pod>): KeepTogether<Pod> {
  const judge = { taker, policies: new Map<number, Because | undefined>() };
  return ({ proposed, others }) => {
    const tally: Tally = new Map();
    const isLawful = proposed.every((pod) => take(judge, tally, lossOf(pod)) === undefined);
    const going = new Set(isLawful ? proposed : []);
    if (!isLawful) tally.clear();
    let kept: ReadonlyMap<Pod, Because> | undefined;
    return (pod) => {
      if (going.has(pod)) return undefined;
      kept ??= new Map(
        others().flatMap((each): [Pod, Because][] => {
          const because = going.has(each) ? undefined : take(judge, tally, lossOf(each));
          return because === undefined ? [] : [[each, because]];
        }),
      );
      return kept.get(pod);
    };
  };
}

interface Judge {
  readonly taker: Taker;
  /** What keeps all pods of a queue, by its number. */
  readonly policies: Map<number, Because | undefined>;
}

/** What queues would lose in all, by number. */
type Tally = Map<number, Map<string, Whole>>;

/** Adds a loss that breaks no law; otherwise says which one it breaks. */
function take(judge: Judge, tally: Tally, loss: Loss | undefined): Because | undefined {
  const { taker } = judge;
  if (loss === undefined || loss.queue === taker.queue) return undefined;
  const policy = policyAgainst(judge, loss.queue);
  if (policy !== undefined) return policy;
  const losses = pathOf(taker.tree, loss.queue)
    .filter((queue) => !taker.above.has(queue))
    .map((queue) => ({ queue, amounts: sumOf(tally.get(queue), loss.amounts) }));
  for (const each of losses) {
    const law = findObjection(LOSS_LAWS, each, taker);
    if (law !== undefined) return because(law, each, taker);
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

function because<Subject>(law: Law<Subject>, subject: Subject, taker: Taker): Because {
  const { code, row } = law;
  return { code, text: law.text(subject, taker), facts: { row, queue: taker.pod.queue } };
}
