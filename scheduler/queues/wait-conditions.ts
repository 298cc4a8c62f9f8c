import { timeText } from '#shared/api/fields.ts';
import type { Because } from '#shared/domain/base/because.ts';
import { podName } from '#shared/domain/base/texts.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { COMPONENT_NAMES, CONDITION_WAITS_IN_QUEUE } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { patchObject } from '#shared/kube/client/objects.ts';
import type { LeaseTerm } from '#shared/kube/lease/leader-lease.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { faultLog } from '#shared/runtime/fault-log.ts';
import { inChunks } from '#shared/runtime/turns/turns.ts';
import { type WaitingAddress, waitingSubjects } from './wait-reasons.ts';

export interface WaitConditionPorts extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly pods: Pick<QueuedPods, 'values'>;
  readonly term: Pick<LeaseTerm, 'isHeld'>;
}

/** Per round, that is, per second, as Events. */
const MAX_WRITES = 20;
/** The pauses between two looks at the reason of a pod grow with its wait, within these limits. */
const PAUSE = { leastMs: 60_000, mostMs: 3_600_000 } as const;
const MAX_LENGTH = 1_000;
const PODS_PER_STEP = 1_000;
const WRITE = { type: 'strategic', fieldManager: COMPONENT_NAMES.scheduler, timeoutMs: 5_000 } as const;

/** A pod that has the condition. */
interface Written {
  readonly pod: WaitingAddress & Pick<Pod, 'uid'>;
  /** Unknown if an earlier leader wrote it. */
  readonly text: string | undefined;
  readonly nextAt: Instant;
}

/** `because` is absent where the pod no longer waits. */
interface DueWrite extends Pick<Written, 'pod' | 'nextAt'> {
  readonly because?: Because;
}

/**
 * Keeps a condition on waiting pods that says what they wait for, for people who may read nothing but their namespace;
 * it is removed once the pod is let in. Call it once a second. A reason that stays is not written again. What others
 * write into the condition is neither read nor corrected: it misleads those who read that pod, and costs no requests.
 */
export function createWaitConditions(
  ports: WaitConditionPorts,
  whyNoRoom: (uid: string) => Because | undefined,
): (plan: QueuePlan, signal: AbortSignal) => Promise<void> {
  let written: Map<string, Written> | undefined;
  return async (plan, signal) => {
    const { clock, term } = ports;
    written ??= await inChunks(writtenEarlier(ports.pods, clock.now()), clock, signal);
    const due = await inChunks(dueWrites(plan, { written, whyNoRoom, now: clock.now() }), clock, signal);
    for (const each of due) {
      if (signal.aborted || !term.isHeld()) return;
      await carryOut(each, written, ports, signal);
    }
  };
}

/** What an earlier leader left, which may be on pods that were let in meanwhile. */
function* writtenEarlier(pods: Pick<QueuedPods, 'values'>, now: Instant): Steps<Map<string, Written>> {
  const found = new Map<string, Written>();
  let seen = 0;
  for (const { uid, namespace, name, createdAt, saysThatItWaits } of pods.values()) {
    seen += 1;
    if (seen % PODS_PER_STEP === 0) yield;
    if (saysThatItWaits)
      found.set(uid, { pod: { uid, namespace, name }, text: undefined, nextAt: nextLook(createdAt, now) });
  }
  return found;
}

interface LookedAt {
  readonly written: Map<string, Written>;
  readonly whyNoRoom: (uid: string) => Because | undefined;
  readonly now: Instant;
}

/** Removals come first: a pod that runs and is said to wait misleads most. */
function* dueWrites(plan: QueuePlan, { written, whyNoRoom, now }: LookedAt): Steps<readonly DueWrite[]> {
  const due: DueWrite[] = [];
  const waiting = new Set<string>();
  let left = MAX_WRITES;
  for (const { uid, since = now, address, why } of waitingSubjects(plan, whyNoRoom, now)) {
    waiting.add(uid);
    if (waiting.size % PODS_PER_STEP === 0) yield;
    const known = written.get(uid);
    if (left === 0 || (known !== undefined && now < known.nextAt)) continue;
    left -= 1;
    const [because, nextAt] = [why(), nextLook(since, now)];
    const { namespace, name } = address();
    if (known?.text === textOf(because)) written.set(uid, { ...known, nextAt });
    else due.push({ pod: { uid, namespace, name }, because, nextAt });
  }
  const over = Array.from(written.values()).filter(({ pod }) => !waiting.has(pod.uid));
  return [...over.slice(0, MAX_WRITES), ...due];
}

function nextLook(since: Instant, now: Instant): Instant {
  return now + Math.min(Math.max(now - since, PAUSE.leastMs), PAUSE.mostMs);
}

function textOf({ code, text }: Because): string {
  return `${code} ${text}`;
}

async function carryOut(
  { pod, because, nextAt }: DueWrite,
  written: Map<string, Written>,
  { client, clock, log }: WaitConditionPorts,
  signal: AbortSignal,
): Promise<void> {
  const { uid, namespace, name } = pod;
  const condition = because === undefined ? NO_CONDITION : conditionOf(because, written.has(uid), clock.now());
  const patch = { metadata: { uid }, status: { conditions: [condition] } };
  const address = { resource: PODS, namespace, name, subresource: 'status' };
  const outcome = await patchObject(client, address, patch, { ...WRITE, signal });
  // A failed write is tried again after the others.
  written.delete(uid);
  if (outcome.kind === 'notFound' || outcome.kind === 'conflict') return;
  faultLog(log, 'Condition of a waiting pod not written').answered(podName(pod), outcome);
  if (outcome.kind !== 'ok') written.set(uid, { pod, text: undefined, nextAt: clock.now() + PAUSE.leastMs });
  else if (because !== undefined) written.set(uid, { pod, text: textOf(because), nextAt });
}

const NO_CONDITION = { $patch: 'delete', type: CONDITION_WAITS_IN_QUEUE };

/** The time is that of the first write, since which the pod is said to wait. */
function conditionOf({ code, text }: Because, isKnown: boolean, now: Instant): object {
  return {
    type: CONDITION_WAITS_IN_QUEUE,
    status: 'True',
    reason: code,
    message: text.slice(0, MAX_LENGTH),
    ...(!isKnown && { lastTransitionTime: timeText(now) }),
  };
}
