import type { Admitted } from '#shared/api/admitted.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { collectInSteps, type Steps } from '#shared/domain/base/steps.ts';
import { compareTexts, podName } from '#shared/domain/base/texts.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { LetInDecision, LetInQuestion } from '#shared/domain/queue/let-in.ts';
import { NO_QUEUE_AMOUNTS, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { isWaiting, type QueuedPod } from './queued-pod.ts';
import type { QueuedPods } from './queued-pods.ts';
import { type Rollout, ROLLOUT_MS, rolloutOf } from './rollout.ts';
import { type Exchange, UsageInPass } from './rollout-usage.ts';

/*
 * A rollout of a Deployment, or of a DaemonSet with maxSurge, creates a pod before it deletes another one, so in a full
 * queue, or in one that is above its maximum, it would hang for ever. A new pod goes in against one of the same Deployment
 * (of a DaemonSet: of the same node) that it replaces: of another revision, or already deleted. That takes no more than
 * before when the other is gone. So that no queue grows by it, its mark says what the queue used before, and while the
 * queue uses more, no other pod of it goes in like this. Which pods are of a Deployment is what a tenant says, at any time;
 * what its queue uses is not.
 */

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
    const own = pod.gang === undefined ? input.pods.get(pod.uid)?.rollout : undefined;
    return own === undefined ? undefined : { pod, own };
  });
  if (candidates.length === 0) return NOTHING;
  const deployments = yield* countDeployments(input, new Set(candidates.map(({ pod }) => namespaceOf(pod))));
  const usage = new UsageInPass(input);
  const letIn: WaitingPod[] = [];
  const kept = new Map<string, string>();
  for (const { pod, own } of candidates) {
    const deployment = deployments.get(own.of);
    const replaced = deployment && replacedBy(deployment, { pod, own }, usage);
    if (deployment === undefined || replaced === undefined) continue;
    const last = usage.isAboveLimits(pod.queue) ? deployments.lastIn(pod.queue) : undefined;
    const why = whyKept({ pod, replaced }, last, usage);
    if (why !== undefined) {
      kept.set(pod.uid, why);
      continue;
    }
    const against = usage.usedBefore(pod, [last?.against, deployment.last?.against]);
    letIn.push({ ...pod, against });
    usage.enter(pod);
    deployments.enter(own, { queue: pod.queue, against, at: input.now, uid: pod.uid });
  }
  return { letIn, kept };
}

interface CountedPod extends Pick<Pod, 'uid'> {
  readonly revision: string;
  readonly requests: QueueAmounts;
  readonly isDeleted: boolean;
}

/** The mark of a pod that went in against another. */
interface OwnMark extends Pick<Admitted, 'queue' | 'at'>, Pick<Pod, 'uid'> {
  /** What its queue used before it. */
  readonly against: QueueAmounts;
}

interface Mark extends OwnMark {
  /** What has to be finished before the next pod. */
  readonly of: string;
}

/** The pods of a Deployment that were let in, or ran before their namespace was managed. */
interface Counted {
  readonly pods: CountedPod[];
  /** The last mark of a rollout that is not long ago. */
  last?: OwnMark;
}

class Deployments {
  readonly #byName = new Map<string, Counted>();
  /** By queue. */
  readonly #last = new Map<string, Mark>();

  get(deployment: string): Counted | undefined {
    return this.#byName.get(deployment);
  }

  /** The last pod of a queue that went in against another one, whatever it says now of its Deployment. */
  lastIn(queue: string): Mark | undefined {
    return this.#last.get(queue);
  }

  /** By UID, not as the watch showed them, which is another order for the next leader. */
  sort(): void {
    for (const { pods } of this.#byName.values()) pods.sort((a, b) => compareTexts(a.uid, b.uid));
  }

  add(pod: QueuedPod, now: Instant): void {
    const { uid, rollout, requests, isDeletedByOwner: isDeleted, admitted } = pod;
    if (rollout !== undefined) {
      const { of, revision } = rollout;
      this.#of(of).pods.push({ uid, revision, requests, isDeleted });
    }
    if (admitted?.against === undefined) return;
    const mark = { uid, queue: admitted.queue, at: admitted.at, against: admitted.against };
    this.#mark({ ...mark, of: nameOf(pod) });
    if (rollout !== undefined && now - mark.at < ROLLOUT_MS) this.#note(rollout, mark);
  }

  /** A pod that ran before its namespace was managed. */
  addOutside(pod: Pod, requests: QueueAmounts): void {
    const rollout = rolloutOf(pod);
    if (rollout === undefined) return;
    const { revision, of } = rollout;
    this.#of(of).pods.push({ uid: pod.uid, revision, requests, isDeleted: pod.deletion !== undefined });
  }

  enter(rollout: Rollout, mark: OwnMark): void {
    this.#mark({ ...mark, of: rollout.of });
    this.#note(rollout, mark);
  }

  #note({ of }: Rollout, mark: OwnMark): void {
    const counted = this.#of(of);
    if (mark.at >= (counted.last?.at ?? 0)) counted.last = mark;
  }

  #of(deployment: string): Counted {
    const known = this.#byName.get(deployment) ?? { pods: [] };
    this.#byName.set(deployment, known);
    return known;
  }

  #mark(mark: Mark): void {
    const last = this.#last.get(mark.queue);
    if (last === undefined || isLater(mark, last)) this.#last.set(mark.queue, mark);
  }
}

function isLater(a: Mark, b: Mark): boolean {
  return (a.at - b.at || compareTexts(a.uid, b.uid)) > 0;
}

function nameOf(pod: QueuedPod): string {
  return pod.rollout === undefined ? `pod ${podName(pod)}` : pod.rollout.of;
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
function replacedBy(
  { pods, last }: Counted,
  { pod, own }: { readonly pod: WaitingPod; readonly own: Rollout },
  usage: UsageInPass,
): QueueAmounts | undefined {
  const other = pods.find((each) => each.isDeleted || each.revision !== own.revision);
  if (other !== undefined) return other.requests;
  const before = last?.against ?? NO_QUEUE_AMOUNTS;
  return before.size > 0 && usage.isWithin(pod, before) ? pod.requests : undefined;
}

function whyKept(exchange: Exchange, last: Mark | undefined, usage: UsageInPass): string | undefined {
  const { queue } = exchange.pod;
  const type = usage.typeThatGrows(exchange);
  if (type !== undefined) {
    return `it requests more ${type} than the pod that it replaces: raise the maximum of queue ${queue}, or let its rollout delete pods first (maxUnavailable of at least 1, for a DaemonSet maxSurge of 0)`;
  }
  if (last === undefined || !usage.isAbove(queue, last.against)) return undefined;
  return `${last.of} of queue ${queue} has to finish replacing a pod first: see kubectl rollout status, or undo its rollout`;
}

function namespaceOf({ name }: WaitingPod): string {
  return name.slice(0, name.indexOf('/'));
}

/** Why a pod waits, and what its rollout needs. */
export function withWayOut(because: Because, kept: RolloutDecision['kept'], { uid }: Pick<QueuedPod, 'uid'>): Because {
  const why = kept.get(uid);
  return why === undefined ? because : { ...because, text: `${because.text}; ${why}` };
}
