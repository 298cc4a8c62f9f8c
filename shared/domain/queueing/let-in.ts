import type { Because } from '#shared/domain/model/because.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';
import { type QueueAmounts, queueQuantity } from '#shared/domain/queue/queue.ts';
import type { QueueTree } from '#shared/domain/queue/queue-tree.ts';
import type { ShareState } from '#shared/domain/queue/shares.ts';

/** A pod behind the scheduling gate, in the queue with this number. */
export interface PodInLine {
  readonly uid: string;
  readonly queue: number;
  readonly priority: number;
  readonly createdAt: Instant;
  readonly requests: QueueAmounts;
}

export interface LetInQuestion<P extends PodInLine> {
  /** What each queue deserves. */
  readonly shares: ShareState;
  readonly total: QueueAmounts;
  /** What was let in, by queue name, of its own pods. */
  readonly admitted: ReadonlyMap<string, QueueAmounts>;
  /** In the order of `compareInLine`. */
  readonly waiting: readonly P[];
}

export interface LetInDecision<P extends PodInLine> {
  readonly letIn: readonly { readonly pod: P; readonly because: Because }[];
  readonly held: readonly { readonly pod: P; readonly objection: Objection }[];
  /** What is let in afterwards, by type and number of the queue, with all queues below it. */
  readonly allocated: ReadonlyMap<string, readonly Whole[]>;
}

/** Why a pod stays: which bound of which queue it would break, or that another pod is before it. */
export interface Objection {
  readonly code: 'QueueAtMax' | 'QueueAtDeserved' | 'ClusterInUse' | 'BehindAnotherPod';
  readonly queue: number;
  readonly type: string;
  /** Of all pods of the queue and below, when the pod was looked at. */
  readonly allocated: Whole;
  readonly bound: Whole;
}

/** Higher priority first, then the older pod. */
export function compareInLine(a: PodInLine, b: PodInLine): number {
  return b.priority - a.priority || a.createdAt - b.createdAt || (a.uid < b.uid ? -1 : Number(a.uid > b.uid));
}

const PODS_PER_STEP = 200;

interface Line<P extends PodInLine> {
  readonly question: LetInQuestion<P>;
  readonly tree: QueueTree;
  readonly paths: Map<number, readonly number[]>;
  readonly allocated: Map<string, Whole[]>;
}

/**
 * Which waiting pods go in now: in order, within the maximum and the deserved share of their queue and of all above it.
 * What no queue takes of its share is then lent, in the same order, so that nothing is idle while a pod waits for it. Free
 * room on nodes is not asked: a pod beyond it becomes unschedulable, and autoscalers see it. A pod that does not fit holds
 * back those behind it only in a Strict queue (S1-12).
 */
export function* letInSteps<P extends PodInLine>(question: LetInQuestion<P>): Steps<LetInDecision<P>> {
  const { tree } = question.shares;
  const line: Line<P> = { question, tree, paths: new Map(), allocated: sums(tree, question.admitted) };
  const first = yield* walk(line, question.waiting, false);
  const second = yield* walk(
    line,
    first.held.map(({ pod }) => pod),
    true,
  );
  const lent = new Set(second.letIn.map(({ pod }) => pod));
  const held = first.held.filter(({ pod }) => !lent.has(pod));
  return { letIn: [...first.letIn, ...second.letIn], held, allocated: line.allocated };
}

type Walked<P extends PodInLine> = Pick<LetInDecision<P>, 'letIn' | 'held'>;

function* walk<P extends PodInLine>(line: Line<P>, pods: readonly P[], isLent: boolean): Steps<Walked<P>> {
  const letIn: { pod: P; because: Because }[] = [];
  const held: { pod: P; objection: Objection }[] = [];
  const blocked = new Map<number, Objection>();
  for (const [index, pod] of pods.entries()) {
    if (index % PODS_PER_STEP === PODS_PER_STEP - 1) yield;
    const objection = blocked.get(pod.queue) ?? findObjection(line, pod, isLent);
    if (objection === undefined) {
      letIn.push({ pod, because: isLent ? LENT : WITHIN_SHARE });
      charge(line, pod);
      continue;
    }
    held.push({ pod, objection });
    if (line.tree.queues[pod.queue]?.ordering === 'Strict')
      blocked.set(pod.queue, { ...objection, code: 'BehindAnotherPod' });
  }
  return { letIn, held };
}

const WITHIN_SHARE: Because = { code: 'WithinShare', text: 'within what the queue deserves', facts: {} };
const LENT: Because = { code: 'IdleRoomLent', text: 'no other queue uses this room', facts: {} };

function findObjection<P extends PodInLine>(line: Line<P>, pod: P, isLent: boolean): Objection | undefined {
  for (const [type, amount] of pod.requests) {
    if (amount === 0) continue;
    for (const queue of pathIn(line, pod.queue)) {
      const objection = objectionOf(line, { queue, type, amount, isLent });
      if (objection !== undefined) return objection;
    }
  }
  return undefined;
}

interface Asked {
  readonly queue: number;
  readonly type: string;
  readonly amount: Whole;
  readonly isLent: boolean;
}

function objectionOf<P extends PodInLine>(line: Line<P>, asked: Asked): Objection | undefined {
  const { queue, type, amount } = asked;
  const allocated = line.allocated.get(type)?.[queue] ?? 0;
  const wanted = plus(allocated, amount);
  const most = line.tree.queues[queue]?.max.get(type);
  if (most !== undefined && wanted > most) return { code: 'QueueAtMax', queue, type, allocated, bound: most };
  const share = shareOf(line, asked);
  return share !== undefined && wanted > share.bound ? { ...share, queue, type, allocated } : undefined;
}

/** What bounds a queue besides its maximum; nothing where no node has the type. */
function shareOf<P extends PodInLine>({ question }: Line<P>, { queue, type, isLent }: Asked) {
  const total = question.total.get(type);
  if (total === undefined) return undefined;
  if (queue === 0) return isLent ? ({ code: 'ClusterInUse', bound: total } as const) : undefined;
  const bound = question.shares.columns.get(type)?.deserved[queue] ?? 0;
  return isLent ? undefined : ({ code: 'QueueAtDeserved', bound } as const);
}

function charge<P extends PodInLine>(line: Line<P>, { queue, requests }: P): void {
  for (const [type, amount] of requests) addTo(columnOf(line.allocated, line.tree, type), pathIn(line, queue), amount);
}

function pathIn<P extends PodInLine>({ paths, tree }: Line<P>, queue: number): readonly number[] {
  const known = paths.get(queue);
  if (known !== undefined) return known;
  const path = pathOf(tree, queue);
  paths.set(queue, path);
  return path;
}

function sums(tree: QueueTree, admitted: ReadonlyMap<string, QueueAmounts>): Map<string, Whole[]> {
  const allocated = new Map<string, Whole[]>();
  for (const [name, amounts] of admitted) {
    const path = pathOf(tree, tree.indexes.get(name) ?? 0);
    for (const [type, amount] of amounts) addTo(columnOf(allocated, tree, type), path, amount);
  }
  return allocated;
}

function columnOf(allocated: Map<string, Whole[]>, tree: QueueTree, type: string): Whole[] {
  const column = allocated.get(type) ?? tree.queues.map((): Whole => 0);
  allocated.set(type, column);
  return column;
}

function addTo(column: Whole[], path: readonly number[], amount: Whole): void {
  for (const index of path) column[index] = plus(column[index] ?? 0, amount);
}

function pathOf({ parents }: QueueTree, index: number): readonly number[] {
  const path: number[] = [];
  for (let at = index; at >= 0; at = parents[at] ?? -1) path.push(at);
  return path;
}

/** The objection in words, with the numbers: what the pod waits for. */
export function describeObjection(objection: Objection, pod: PodInLine, tree: QueueTree): Because {
  const { code, queue, type, allocated, bound } = objection;
  const name = tree.queues[queue]?.name ?? '';
  const amount = (value: Whole): string => formatQuantity(queueQuantity(type, value));
  const [requested, used, limit] = [amount(pod.requests.get(type) ?? 0), amount(allocated), amount(bound)];
  const missing = amount(larger(minus(plus(allocated, pod.requests.get(type) ?? 0), bound), 0));
  const facts = { queue: name, resource: type, requested, allocated: used, bound: limit, missing };
  return { code, text: TEXTS[code]({ ...facts, resource: type }), facts };
}

interface Facts {
  readonly queue: string;
  readonly resource: string;
  readonly requested: string;
  readonly allocated: string;
  readonly bound: string;
  readonly missing: string;
}

const TEXTS: Readonly<Record<Objection['code'], (facts: Facts) => string>> = {
  QueueAtMax: ({ queue, resource, requested, allocated, bound, missing }) =>
    `waits for ${missing} ${resource}: queue ${queue} is limited to ${bound}; let in ${allocated}, requested ${requested}`,
  QueueAtDeserved: ({ queue, resource, requested, allocated, bound, missing }) =>
    `waits for ${missing} ${resource}: queue ${queue} deserves ${bound}; let in ${allocated}, requested ${requested}`,
  ClusterInUse: ({ resource, requested, allocated, bound, missing }) =>
    `waits for ${missing} ${resource}: all queues together have ${bound}; let in ${allocated}, requested ${requested}`,
  BehindAnotherPod: ({ queue, resource }) =>
    `waits behind another pod: queue ${queue} lets pods in strictly in order, and the first one waits for ${resource}`,
};

function larger(a: Whole, b: Whole): Whole {
  return a < b ? b : a;
}
