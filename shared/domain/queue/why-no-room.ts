import { type Because, reason } from '#shared/domain/base/because.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { giverObjection, type Givers, type GivingNode } from './givers.ts';
import type { RunningPod } from './queue-pod.ts';
import {
  fenceOf,
  figures,
  findObjection,
  floorOf,
  LOSS_RULES,
  type ReclaimRuleCode,
  VICTIM_RULES,
} from './reclaim-rules.ts';
import { excessOf, type Taker } from './taker.ts';
import { numberOf, queueAt } from './queue-tree.ts';

interface Nodes {
  readonly nodes: readonly GivingNode[];
}

const NO_GIVER = reason<{ readonly taker: Taker }>('NoGiver', ({ taker }) => {
  const fence = queueAt(taker.tree, fenceOf(taker)).name;
  return `no queue below queue ${fence} is over its ${floorOf(taker)} in a type that the pod asks for`;
});
const BLOCKED = reason<{ readonly budget: string }>('ReclaimBlocked', ({ budget }) =>
  budget.includes(OVERLAP)
    ? `budgets ${budget} select the same pods, so that the API server refuses to evict them`
    : `budget ${budget} allows no eviction that would make room`,
);
const OVERLAP = ' and ';

/** The budgets that select a pod, as one name. */
export function overlapOf(budgets: readonly string[]): string {
  return budgets.toSorted(compareTexts).join(OVERLAP);
}

const KEPT = reason<{ readonly sentences: readonly string[] }>('GiversKept', ({ sentences }) => sentences.join('; '));
const TOO_FEW = reason<{ readonly sentences: readonly string[] }>('NotEnough', ({ sentences }) =>
  ['no node has enough pods that may be evicted to make room', ...sentences].join('; '),
);
const MAX_SENTENCES = 3;

/**
 * The first that applies: a budget prevents it, other queues over their guarantees are protected, or no queue is over.
 */
export function whyNoRoom(question: Nodes, givers: Givers, budget: string | undefined): Because {
  const { taker } = givers;
  if (budget !== undefined) return BLOCKED({ budget }, { budget });
  const names = taker.tree.queues.map(({ name }) => name);
  const over = names.filter((name) => isOver(taker, name));
  const open = over.filter((name) => giverObjection(givers, name) === undefined);
  if (open.length > 0) {
    const sentences = open.slice(0, MAX_SENTENCES).map((name) => whyKept(question, givers, name));
    return TOO_FEW({ sentences }, { queues: open.length });
  }
  const sentences = over.flatMap((name) => {
    const rule = giverObjection(givers, name);
    return rule === undefined || rule.code === 'OwnQueue' ? [] : [rule.text(numberOf(taker.tree, name), taker)];
  });
  if (sentences.length === 0) return NO_GIVER({ taker });
  return KEPT({ sentences: sentences.slice(0, MAX_SENTENCES) }, { queues: sentences.length });
}

/** A queue that is over its guarantee, and what keeps its pods. */
function whyKept({ nodes }: Nodes, { taker }: Givers, name: string): string {
  const queue = numberOf(taker.tree, name);
  const held = `queue ${name} is over its ${floorOf(taker)}${figures(taker, queue)}`;
  const pods = nodes.flatMap((node) => node.pods.filter((pod) => pod.queue === name));
  const kept = pods.map((pod) => keptBy(taker, queue, pod));
  const [first] = kept.filter((text) => text !== undefined).sort(compareTexts);
  if (first === undefined || kept.includes(undefined)) return `${held}, and what it may give is not enough on one node`;
  return `${held} and gives none: ${first}`;
}

/** Without names: the pods may be those of another namespace. */
const KEPT_PODS: Readonly<Partial<Record<ReclaimRuleCode, string>>> = {
  HigherPriority: 'its pods have a higher priority',
  OwnApplication: 'its pods belong to the same application',
  DaemonSetPod: 'its pods would be created again by their DaemonSets',
};

function keptBy(taker: Taker, queue: number, pod: RunningPod): string | undefined {
  const ofPod = findObjection(VICTIM_RULES, pod, taker);
  if (ofPod !== undefined) return KEPT_PODS[ofPod.code];
  const loss = { queue, amounts: pod.requests };
  return findObjection(LOSS_RULES, loss, taker)?.text(loss, taker);
}

/** A leaf that is over its guarantee in a type that the pod requests. */
function isOver(taker: Taker, name: string): boolean {
  const queue = numberOf(taker.tree, name);
  return taker.tree.children[queue]?.length === 0 && taker.types.some((type) => excessOf(taker, queue, type) > 0);
}
