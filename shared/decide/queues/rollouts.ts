import type { Because } from '#shared/domain/base/because.ts';
import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { minus, plus } from '#shared/domain/quantity/whole.ts';
import type { LetInDecision, LetInQuestion } from '#shared/domain/queue/let-in.ts';
import { NO_QUEUE_AMOUNTS, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { pathOf } from '#shared/domain/queue/queue-tree.ts';
import { usedBy } from '#shared/domain/queue/usage.ts';
import { isWaiting, type QueuedPod } from './queued-pod.ts';
import type { QueuedPods } from './queued-pods.ts';
import { type Rollout, rolloutOf } from './rollout.ts';

/*
 * A rollout of a Deployment creates a pod before it deletes another one, so in a full queue, or in one that is above its
 * maximum, it would hang for ever. A new pod goes in against one of the same Deployment that it replaces: of another
 * revision, or already deleted. That takes no more than before when the other is gone. So that no Deployment grows by it, its
 * mark says how many pods the Deployment had, and while the Deployment has more, no other pod of that queue goes in like
 * this.
 */

/** A rollout has ended by then, or its pods are there to stay. */
const ROLLOUT_MS = 900_000;
const PODS_PER_STEP = 1_000;

export interface RolloutInput {
  readonly pods: Pick<QueuedPods, 'values' | 'get' | 'outside' | 'amountsOf'>;
  readonly now: Instant;
  readonly question: Pick<LetInQuestion, 'tree' | 'allowed'>;
  readonly decision: Pick<LetInDecision, 'held' | 'usage'>;
  /** Whether the pod does not count for its queue. */
  readonly isReturned: (uid: string) => boolean;
}

export interface RolloutDecision {
  /** The pods that go in against others. */
  readonly letIn: readonly WaitingPod[];
  /** What keeps the other new pods of rollouts, with the way out, by UID. */
  readonly kept: ReadonlyMap<string, string>;
}

const NOTHING: RolloutDecision = { letIn: [], kept: new Map() };

/** Which of the pods that are held back go in against a pod that they replace: of each queue one at a time. */
export function* decideRollouts(input: RolloutInput): Steps<RolloutDecision> {
  const candidates = yield* collectInSteps(input.decision.held, (pod) => {
    const own = input.pods.get(pod.uid)?.rollout;
    return own === undefined ? undefined : { pod, own };
  });
  if (candidates.length === 0) return NOTHING;
  const deployments = yield* countDeployments(input, new Set(candidates.map(({ pod }) => namespaceOf(pod))));
  const entered = new Set<string>();
  const letIn: WaitingPod[] = [];
  const kept = new Map<string, string>();
  for (const { pod, own } of candidates) {
    const counted = deployments.get(own.deployment);
    const replaced = counted && replacedBy(counted, own);
    if (counted === undefined || replaced === undefined) continue;
    const mayGrow = !entered.has(pod.queue) && !isAboveLimits(input, pod.queue);
    const why = whyKept(input, { pod, replaced }, mayGrow ? undefined : deployments.unfinishedIn(pod.queue));
    if (why !== undefined) {
      kept.set(pod.uid, why);
      continue;
    }
    const against = Math.max(counted.pods.length, counted.before);
    letIn.push({ ...pod, against });
    counted.marks.push({ queue: pod.queue, against });
    counted.entering += 1;
    entered.add(pod.queue);
  }
  return { letIn, kept };
}

interface CountedPod extends Pick<Pod, 'uid'> {
  readonly revision: string;
  readonly requests: QueueAmounts;
  readonly isDeleted: boolean;
}

/** The pods of a Deployment that were let in, or ran before their namespace was managed. */
interface Counted {
  readonly pods: CountedPod[];
  readonly marks: { readonly queue: string; readonly against: number }[];
  /** How many pods it had, as the marks of a rollout say that is not long ago. */
  before: number;
  entering: number;
}

class Deployments {
  #byName = new Map<string, Counted>();

  get(deployment: string): Counted | undefined {
    return this.#byName.get(deployment);
  }

  of(deployment: string): Counted {
    const known = this.#byName.get(deployment) ?? { pods: [], marks: [], before: 0, entering: 0 };
    this.#byName.set(deployment, known);
    return known;
  }

  /** By name, not as the watch showed them, which is another order for the next leader. */
  sort(): void {
    this.#byName = new Map([...this.#byName].sort(([a], [b]) => compareTexts(a, b)));
    for (const { pods } of this.#byName.values()) pods.sort((a, b) => compareTexts(a.uid, b.uid));
  }

  add({ uid, rollout, requests, isDeletedByOwner: isDeleted, admitted }: QueuedPod, now: Instant): void {
    if (rollout === undefined) return;
    const counted = this.of(rollout.deployment);
    counted.pods.push({ uid, revision: rollout.revision, requests, isDeleted });
    if (admitted?.against === undefined) return;
    counted.marks.push({ queue: admitted.queue, against: admitted.against });
    if (now - admitted.at < ROLLOUT_MS) counted.before = Math.max(counted.before, admitted.against);
  }

  /** A pod that ran before its namespace was managed. */
  addOutside(pod: Pod, requests: QueueAmounts): void {
    const rollout = rolloutOf(pod);
    if (rollout === undefined) return;
    const { revision, deployment } = rollout;
    this.of(deployment).pods.push({ uid: pod.uid, revision, requests, isDeleted: pod.deletion !== undefined });
  }

  /** A Deployment that has more pods than before one went in against another. */
  unfinishedIn(queue: string): string | undefined {
    for (const [name, { pods, marks, entering }] of this.#byName) {
      const has = pods.length + entering;
      if (marks.some((mark) => mark.queue === queue && has > mark.against)) return name;
    }
    return undefined;
  }
}

function* countDeployments({ pods, now, isReturned }: RolloutInput, namespaces: ReadonlySet<string>) {
  const found = new Deployments();
  const isCounted = (pod: QueuedPod): boolean => {
    const isNear = namespaces.has(pod.namespace) || pod.admitted?.against !== undefined;
    return isNear && !isWaiting(pod) && !isReturned(pod.uid);
  };
  let count = 0;
  for (const pod of pods.values()) {
    count += 1;
    if (count % PODS_PER_STEP === 0) yield;
    if (isCounted(pod)) found.add(pod, now);
  }
  for (const { pod } of pods.outside()) {
    if (namespaces.has(pod.namespace)) found.addOutside(pod, pods.amountsOf(pod));
  }
  found.sort();
  return found;
}

/** What the pod that it replaces requests; `undefined` if it replaces none. */
function replacedBy({ pods, before, entering }: Counted, { revision }: Rollout): QueueAmounts | undefined {
  const other = pods.find((each) => each.isDeleted || each.revision !== revision);
  if (other !== undefined) return other.requests;
  return pods.length + entering < before ? (pods[0]?.requests ?? NO_QUEUE_AMOUNTS) : undefined;
}

interface Exchange {
  readonly pod: WaitingPod;
  readonly replaced: QueueAmounts;
}

function whyKept(input: RolloutInput, exchange: Exchange, unfinished: string | undefined): string | undefined {
  const { queue } = exchange.pod;
  const type = typeThatGrows(input, exchange);
  if (type !== undefined) {
    return `it requests more ${type} than the pod that it replaces: raise the maximum of queue ${queue}, or set maxUnavailable of its Deployment to at least 1`;
  }
  if (unfinished === undefined) return undefined;
  return `Deployment ${unfinished} of queue ${queue} has to finish replacing a pod first: see kubectl rollout status, or undo its rollout`;
}

/** A type of which the queue, or one above it, would have more than it may once the other pod is gone. */
function typeThatGrows({ question: { tree, allowed }, decision: { usage } }: RolloutInput, exchange: Exchange) {
  const { pod, replaced } = exchange;
  for (const { index, limits } of limitsOf({ tree, allowed }, pod.queue)) {
    for (const [type, amount] of pod.requests) {
      const before = replaced.get(type) ?? 0;
      const after = plus(minus(usedBy(usage, index, type), before), amount);
      if (amount > before && after > (limits.get(type) ?? Infinity)) return type;
    }
  }
  return undefined;
}

function isAboveLimits({ question, decision: { usage } }: RolloutInput, queue: string): boolean {
  return limitsOf(question, queue).some(({ index, limits }) =>
    Array.from(limits).some(([type, limit]) => usedBy(usage, index, type) > limit),
  );
}

/** What the queue and those above it may have, by their numbers. */
function limitsOf({ tree, allowed }: RolloutInput['question'], queue: string) {
  const own = tree.indexes.get(queue) ?? 0;
  const maximums = pathOf(tree, own).map((index) => ({ index, limits: tree.queues[index]?.max ?? NO_QUEUE_AMOUNTS }));
  return [...maximums, { index: own, limits: allowed.get(queue) ?? NO_QUEUE_AMOUNTS }];
}

function namespaceOf({ name }: WaitingPod): string {
  return name.slice(0, name.indexOf('/'));
}

/** Why a pod waits, and what its rollout needs. */
export function withWayOut(because: Because, kept: RolloutDecision['kept'], { uid }: Pick<QueuedPod, 'uid'>): Because {
  const why = kept.get(uid);
  return why === undefined ? because : { ...because, text: `${because.text}; ${why}` };
}
