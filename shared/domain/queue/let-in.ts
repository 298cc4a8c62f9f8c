import type { Because } from '#shared/domain/base/because.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { finish, type Steps, sortInSteps } from '#shared/domain/base/steps.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { minus, plus, times, type Whole } from '#shared/domain/quantity/whole.ts';
import { BEHIND, FROM_REST, NEXT_PASS, NOT_CHARGED, NO_SHARE, OUTSTANDING, WITHIN_SHARE } from './let-in-messages.ts';
import { whyNoLeaf } from './find-queue.ts';
import { type QueueAmounts, queueQuantity } from './queue.ts';
import type { WaitingPod } from './queue-pod.ts';
import { isLeaf, pathOf, queueAt, type QueueTree } from './queue-tree.ts';
import { addToPath, copyUsage, type QueueUsage } from './usage.ts';

/** The waiting pods, and how much may be let in. */
export interface LetInQuestion {
  readonly tree: QueueTree;
  /**
   * Usage of all pods that were let in, on a node or not: without terminating pods, with pods for which room is being
   * made.
   */
  readonly usage: QueueUsage;
  /**
   * What each queue may have, by name: its share with idle guarantees lent. Types that are not named are not limited.
   */
  readonly allowed: ReadonlyMap<string, QueueAmounts>;
  readonly waiting: readonly WaitingPod[];
  /**
   * Of pods that were let in, gave their share back and may start at any time, by what their tenant does: no gate holds
   * them any more. A queue lets in others for at most as much as its maximum.
   */
  readonly latent?: QueueUsage;
}

export interface LetInDecision {
  /** In the order in which they are let in. */
  readonly letIn: readonly LetIn[];
  /** The pods that keep waiting, in the order in which they would be let in. */
  readonly held: readonly WaitingPod[];
  /** With those pods, for `whyWaiting`. */
  readonly usage: QueueUsage;
  /** By queue with `Strict` ordering: the pod that all others wait for. */
  readonly blocking: ReadonlyMap<string, WaitingPod>;
}

export interface LetIn {
  readonly pod: WaitingPod;
  readonly because: Because;
}

/** One pass; `usage` grows with each pod that is let in. */
interface LetInPass {
  readonly question: LetInQuestion;
  readonly usage: Map<string, Whole[]>;
  readonly paths: Map<string, readonly number[]>;
  readonly blocking: Map<string, WaitingPod>;
}

/** One walk over all pods, with its findings by queue. */
interface LetInRound {
  readonly kind: RoundKind;
  /** Requests that no later pod may have either, because usage only grows. */
  readonly refused: Map<string, Set<QueueAmounts>>;
  readonly because: Map<string, Because>;
}

/** First within the shares, then what rounding to whole pods leaves of the total. */
type RoundKind = 'Share' | 'Rest';
const ROUNDS: readonly RoundKind[] = ['Share', 'Rest'];

const PODS_PER_STEP = 500;

/** `letInInSteps`, run to the end. */
export function decideLetIn(question: LetInQuestion): LetInDecision {
  return finish(letInInSteps(question));
}

/**
 * Which waiting pods to let in now: by priority, then replacements of disrupted pods, then age (S0-25, S3-45). A pod is
 * let in if its queue stays within its share and every queue above within its maximum, whether or not a node has room:
 * autoscalers must see a pod that fits on no node. A pod that does not fit holds no other back, unless its queue is
 * `Strict` (S1-12). If pods are larger than the rest of their queue's share, the rest of the total goes to the first
 * pod that fits in it: otherwise it would stay idle while all of them wait.
 */
export function* letInInSteps(question: LetInQuestion): Steps<LetInDecision> {
  const pass: LetInPass = {
    question,
    usage: copyUsage(question.usage),
    paths: new Map(),
    blocking: new Map(),
  };
  const letIn: LetIn[] = [];
  let waiting = yield* sortInSteps(question.waiting, compareWaiting);
  for (const kind of ROUNDS) {
    const round: LetInRound = { kind, refused: new Map(), because: new Map() };
    const stay: WaitingPod[] = [];
    for (const [index, pod] of waiting.entries()) {
      if (index % PODS_PER_STEP === PODS_PER_STEP - 1) yield;
      if (isHeldBack(pass, pod, round)) stay.push(pod);
      else letIn.push(enter(pass, pod, round));
    }
    waiting = stay;
  }
  return { letIn, held: waiting, usage: pass.usage, blocking: pass.blocking };
}

/**
 * The held pods that only the maximum of a queue above their own keeps out: their queue has room for them, and others use
 * up that maximum. Since shares stay within it together, one of the others has more than it deserves. Each of these pods
 * counts for its queue as if it were let in.
 */
export function* crowdedAmong(question: LetInQuestion, decision: LetInDecision): Steps<readonly WaitingPod[]> {
  const { held, usage, blocking } = decision;
  const pass: LetInPass = { question, usage: copyUsage(usage), paths: new Map(), blocking: new Map() };
  const crowded: WaitingPod[] = [];
  const refused = new Map<string, Set<QueueAmounts>>();
  for (const [index, pod] of held.entries()) {
    if (index % PODS_PER_STEP === PODS_PER_STEP - 1) yield;
    const known = refused.get(pod.queue) ?? new Set<QueueAmounts>();
    const first = blocking.get(pod.queue);
    if (known.has(pod.requests) || (first !== undefined && first !== pod)) continue;
    if (isCrowded(pass, pod)) {
      crowded.push(pod);
      charge(pass, pod);
    } else refused.set(pod.queue, known.add(pod.requests));
  }
  return crowded;
}

function isCrowded(pass: LetInPass, pod: WaitingPod): boolean {
  const { tree } = pass.question;
  const leaf = tree.indexes.get(pod.queue);
  if (leaf === undefined || !isLeaf(tree, leaf) || !pod.isCharged) return false;
  const path = pathOf(tree, leaf);
  pass.paths.set(pod.queue, path);
  const isWithinOwn = overMaximum(pass, pod, [leaf]) === undefined && overShare(pass, pod, leaf) === undefined;
  return isWithinOwn && overMaximum(pass, pod, path) !== undefined;
}

/** By priority, then replacements, then the longest wait, in seconds; then gangs, for which a part of the room is none. */
export function compareWaiting(a: WaitingPod, b: WaitingPod): number {
  return (
    b.priority - a.priority ||
    Number(b.goesFirst === true) - Number(a.goesFirst === true) ||
    a.waitingSince - b.waitingSince ||
    Number(b.members !== undefined) - Number(a.members !== undefined) ||
    compareTexts(a.uid, b.uid)
  );
}

function isHeldBack(pass: LetInPass, pod: WaitingPod, round: LetInRound): boolean {
  const { blocking, question } = pass;
  const first = blocking.get(pod.queue);
  // The rest may be enough for the pod that the others wait for.
  if (first !== undefined && first !== pod) return true;
  blocking.delete(pod.queue);
  if (!isRefused(pass, pod, round)) return false;
  const queue = question.tree.queues[question.tree.indexes.get(pod.queue) ?? -1];
  if (queue?.ordering === 'Strict' && pod.letsPass !== true) blocking.set(pod.queue, pod);
  return true;
}

/** Whether the pod may not be let in; pods of one queue with the same request are checked once. */
function isRefused(pass: LetInPass, pod: WaitingPod, { kind, refused }: LetInRound): boolean {
  const known = refused.get(pod.queue) ?? new Set<QueueAmounts>();
  if (known.has(pod.requests)) return true;
  if (objectionTo(pass, pod, kind) === undefined) return false;
  refused.set(pod.queue, known);
  if (pod.isCharged) known.add(pod.requests);
  return true;
}

function enter(pass: LetInPass, pod: WaitingPod, round: LetInRound): LetIn {
  charge(pass, pod);
  return { pod, because: becauseOf(round, pod) };
}

function charge({ question, usage, paths }: LetInPass, pod: WaitingPod): void {
  addToPath(usage, question.tree, paths.get(pod.queue) as readonly number[], pod.requests);
}

/** Pods of one queue share it. */
function becauseOf({ kind, because }: LetInRound, { queue }: WaitingPod): Because {
  const known = because.get(queue) ?? (kind === 'Share' ? WITHIN_SHARE : FROM_REST)({ queue }, { queue });
  because.set(queue, known);
  return known;
}

/** Why a pod waits according to the decision; the sentence names the missing amount and the queue that lacks it. */
export function whyWaiting(question: LetInQuestion, decision: LetInDecision, waiting: WaitingPod): Because {
  const pod = waiting.gang ?? waiting;
  const first = decision.blocking.get(pod.queue);
  if (first !== undefined && first !== pod)
    return BEHIND({ queue: pod.queue, first: first.name }, { queue: pod.queue });
  const usage = copyUsage(decision.usage);
  const objection = objectionTo({ question, usage, paths: new Map(), blocking: new Map() }, pod, 'Share');
  return objection?.() ?? NEXT_PASS({});
}

/** Built only when needed, because thousands of pods wait for the same reason. */
type Objection = () => Because;

function objectionTo(pass: LetInPass, pod: WaitingPod, round: RoundKind): Objection | undefined {
  const { tree } = pass.question;
  const queue = tree.indexes.get(pod.queue);
  if (queue === undefined || !isLeaf(tree, queue)) return () => whyNoLeaf(tree, pod.queue);
  if (!pod.isCharged) return () => NOT_CHARGED({}, { queue: pod.queue });
  const { keptBack } = pod;
  if (keptBack !== undefined) return () => keptBack;
  const path = pass.paths.get(pod.queue) ?? pathOf(tree, queue);
  pass.paths.set(pod.queue, path);
  // Without a weight a queue gets only its guarantee, so nothing of the rest.
  const isOfRest = round === 'Rest' && queueAt(tree, queue).weight > 0;
  return overMaximum(pass, pod, path) ?? overLatent(pass, pod, path) ?? overShare(pass, pod, isOfRest ? 0 : queue);
}

/** Without this bound a tenant would have pods let in again and again, and start all of them together. */
function overLatent({ question: { tree, latent }, usage }: LetInPass, pod: WaitingPod, path: readonly number[]) {
  if (latent === undefined || latent.size === 0) return undefined;
  for (const index of path) {
    const { name, max } = queueAt(tree, index);
    const twice = new Map(Array.from(max, ([type, amount]) => [type, times(amount, 2)]));
    const outstanding = (type: string): Whole => latent.get(type)?.[index] ?? 0;
    const over = firstOver(pod, twice, (type) => plus(usage.get(type)?.[index] ?? 0, outstanding(type)));
    if (over === undefined || outstanding(over.type) <= 0) continue;
    const { type } = over;
    const amount = formatQuantity(queueQuantity(type, outstanding(type)));
    return (): Because => OUTSTANDING({ queue: name, type, amount }, { queue: name, type, amount });
  }
  return undefined;
}

function overMaximum({ question: { tree }, usage }: LetInPass, pod: WaitingPod, path: readonly number[]) {
  for (const index of path) {
    const queue = tree.queues[index];
    if (queue === undefined || queue.max.size === 0) continue;
    const over = firstOver(pod, queue.max, (type) => usage.get(type)?.[index] ?? 0);
    if (over !== undefined) return (): Because => missing('AtMaximum', { ...over, queue: queue.name, of: 'maximum' });
  }
  return undefined;
}

/** The limit of its own queue, or of the root, which has the total. A queue whose share is unknown lets nothing in. */
function overShare({ question, usage }: LetInPass, pod: WaitingPod, index: number): Objection | undefined {
  const { name } = queueAt(question.tree, index);
  const allowed = question.allowed.get(name);
  if (allowed === undefined) return () => NO_SHARE({ queue: name }, { queue: name });
  const over = firstOver(pod, allowed, (type) => usage.get(type)?.[index] ?? 0);
  return over && ((): Because => missing('AtShare', { ...over, queue: name, of: 'share' }));
}

interface Over {
  readonly type: string;
  readonly lacking: Whole;
  readonly limit: Whole;
}

/** The first type requested by the pod that would exceed its limit. */
function firstOver(pod: WaitingPod, limits: QueueAmounts, usedOf: (type: string) => Whole): Over | undefined {
  for (const [type, amount] of pod.requests) {
    const limit = limits.get(type);
    if (limit === undefined || amount <= 0) continue;
    const lacking = minus(plus(usedOf(type), amount), limit);
    if (lacking > 0) return { type, lacking, limit };
  }
  return undefined;
}

type MissingAmount = Over & { readonly queue: string; readonly of: 'maximum' | 'share' };

function missing(code: 'AtMaximum' | 'AtShare', values: MissingAmount): Because {
  const { queue, type } = values;
  const text = (amount: Whole): string => formatQuantity(queueQuantity(type, amount));
  const facts = { queue, type, missing: text(values.lacking), limit: text(values.limit) };
  const what = values.of === 'share' ? 'its deserved' : 'its maximum';
  return { code, text: `waits for ${facts.missing} ${type}: queue ${queue} is at ${what} ${facts.limit}`, facts };
}
