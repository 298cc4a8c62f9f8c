import type { Because } from '#shared/domain/base/because.ts';
import type { RefusedMembers } from '#shared/domain/gang/gang.ts';
import { GATED, INCOMPLETE } from '#shared/domain/gang/messages.ts';
import type { LetIn, LetInDecision, LetInQuestion } from '#shared/domain/queue/let-in.ts';
import type { Preempted } from '#shared/domain/queue/pass-stages.ts';
import { totalRequests } from '#shared/domain/queue/usage.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { QueueGang, QueueMember } from './gangs.ts';

/*
 * A gang waits as one: by its highest priority and its oldest pod, with what its pods request together. So it goes in
 * whole, or blocks what a pod of that size would block.
 */

export interface GangsInPass {
  readonly gangs: readonly QueueGang[];
  readonly refused: readonly RefusedMembers<QueueMember>[];
  readonly waiting: readonly WaitingPod[];
  readonly whyNotNow?: ((gang: string) => Because | undefined) | undefined;
  /** Whether a queue lets nothing pass what does not go in. */
  readonly isStrict: (queue: string) => boolean;
  /** Whether a gang has been half of one for longer than it may. */
  readonly isHalf: (gang: string) => boolean;
}

/** A pod that does not stand in its queue now, and why. */
interface Kept {
  readonly pod: WaitingPod;
  readonly because: Because;
}

/** The waiting pods with one for each gang that may go in, and those that stand aside. */
export function waitTogether(input: GangsInPass) {
  const keptBy = new Map(input.refused.flatMap(({ members, because }) => members.map(({ uid }) => [uid, because])));
  const waiting = new Map(input.waiting.flatMap((pod) => (keptBy.has(pod.uid) ? [] : [[pod.uid, pod]])));
  const wholes = new Map<string, WaitingPod>();
  const joining = new Map<string, WaitingPod>();
  for (const gang of input.gangs) {
    const pods = waitingOf(gang, waiting);
    if (pods.length === 0) continue;
    const found = insideOf(gang) >= gang.min ? undefined : wholeOf(gang, pods, input);
    for (const pod of pods) {
      // What comes to a gang that runs is let in pod by pod.
      if (found === undefined) joining.set(pod.uid, pod);
      else if ('code' in found) keptBy.set(pod.uid, found);
      else wholes.set(pod.uid, found);
    }
  }
  const alone = input.waiting.flatMap((pod) =>
    keptBy.has(pod.uid) || wholes.has(pod.uid) ? [] : (joining.get(pod.uid) ?? pod),
  );
  const kept = input.waiting.flatMap((pod): readonly Kept[] => {
    const because = keptBy.get(pod.uid);
    return because === undefined ? [] : [{ pod, because }];
  });
  return { waiting: [...alone, ...new Set(wholes.values())], kept };
}

/** The pods of a gang that wait, which remember with what they go in. */
function waitingOf({ members, min }: QueueGang, waiting: ReadonlyMap<string, WaitingPod>): readonly WaitingPod[] {
  return members.flatMap(({ uid, isIn, gang: { name } }) => {
    const pod = isIn ? undefined : waiting.get(uid);
    return pod === undefined ? [] : [{ ...pod, letInAs: { name, min } }];
  });
}

function insideOf({ members }: QueueGang): number {
  return members.filter(({ isIn }) => isIn).length;
}

const MAX_GATES = 3;

/** What gates of others hold would keep its planned node, or what runs of the gang half a gang, for as long as they like. */
function otherGatesOf({ members }: QueueGang): readonly string[] {
  const gates = new Set<string>();
  for (const { pod } of members) for (const gate of pod.otherGates ?? []) gates.add(gate);
  return [...gates].sort().slice(0, MAX_GATES);
}

/** What a gang waits as, or why it stands aside. */
function wholeOf(
  gang: QueueGang,
  pods: readonly WaitingPod[],
  { whyNotNow, isStrict, isHalf }: GangsInPass,
): WaitingPod | Because {
  const inside = insideOf(gang);
  const [present, { key, min }] = [inside + pods.length, gang];
  if (present < min) return INCOMPLETE({ gang: key, present, min }, { gang: key, present, min });
  const gates = otherGatesOf(gang);
  if (gates.length > 0) return GATED({ gang: key, gates: gates.join(', ') }, { gang: key });
  const keptBack = whyNotNow?.(key);
  const letsPass = isHalf(key);
  const whole = { ...asOne(key, pods, inside > 0 && !letsPass), letsPass };
  if (keptBack === undefined) return whole;
  const isWaitedFor = isStrict(gang.queue) && !letsPass && !NO_MATTER_OF_ROOM.has(keptBack.code);
  return isWaitedFor ? { ...whole, keptBack } : keptBack;
}

/**
 * It let others go first, where its pods fit together is not known, or the API server refuses them: no room that others
 * leave would change that, so none waits behind it.
 */
const NO_MATTER_OF_ROOM: ReadonlySet<string> = new Set(['GangIsHalf', 'GangNotSeenToFit', 'GangNotNominated']);

/**
 * The rest of a gang that has begun to go in goes first, so that it is not half of one for long. Where it stays half of one,
 * as after an upgrade, it waits like others, and none waits behind it.
 */
function asOne(key: string, pods: readonly WaitingPod[], isBegun: boolean): WaitingPod {
  const first = pods[0] as WaitingPod;
  return {
    ...first,
    uid: `gang ${key}`,
    name: key,
    requests: totalRequests(pods),
    members: pods,
    priority: Math.max(...pods.map(({ priority }) => priority)),
    waitingSince: Math.min(...pods.map(({ waitingSince }) => waitingSince)),
    mayPreempt: pods.every(({ mayPreempt }) => mayPreempt),
    goesFirst: isBegun || pods.some(({ goesFirst }) => goesFirst === true),
  };
}

type Entering = Pick<Preempted, 'atOnce' | 'seeking' | 'crowded' | 'question' | 'decision'>;

/** The decision with the pods of gangs in place of the gangs; those that start now are apart. */
export function asMembers<T extends Entering>(entering: T): T & { readonly starting: readonly WaitingPod[] } {
  const { atOnce, seeking, crowded, question, decision } = entering;
  return {
    ...entering,
    atOnce: atOnce.filter(({ members }) => members === undefined),
    starting: atOnce.filter(({ members }) => members !== undefined),
    seeking: seeking.flatMap(membersOf),
    crowded: new Set(
      seeking.filter(({ uid }) => crowded.has(uid)).flatMap((pod) => membersOf(pod).map(({ uid }) => uid)),
    ),
    question: { ...question, waiting: question.waiting.flatMap(membersOf) } satisfies LetInQuestion,
    decision: {
      ...decision,
      letIn: decision.letIn.flatMap(({ pod, because }): readonly LetIn[] =>
        membersOf(pod).map((each) => ({ pod: each, because })),
      ),
      held: decision.held.flatMap(membersOf),
    } satisfies LetInDecision,
  };
}

function membersOf(pod: WaitingPod): readonly WaitingPod[] {
  return pod.members?.map((member) => ({ ...member, gang: pod })) ?? [pod];
}
