import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { whyWaiting } from '#shared/domain/queue/let-in.ts';
import type { Condition } from '#shared/kube/kube-object.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { SEEKS_ROOM } from './wait-reasons.ts';

/** Computed only when it is shown. */
type Why = () => Because;

/** The pods of a gang that wait in a queue. */
interface WaitingGang {
  readonly gang: string;
  readonly why: Why;
  pods: number;
}

/** By queue and gang. */
export type WaitingGangs = ReadonlyMap<string, ReadonlyMap<string, WaitingGang>>;

const PODS_PER_STEP = 1_000;
const MAX_SHOWN = 5;

/** The gangs that wait: for pods, for a plan, for their queue or for room. */
export function* gangsWaiting(plan: QueuePlan): Steps<WaitingGangs> {
  const byQueue = new Map<string, Map<string, WaitingGang>>();
  let count = 0;
  for (const [queue, gang, why] of waitingPods(plan)) {
    const gangs = byQueue.get(queue) ?? new Map<string, WaitingGang>();
    const known = gangs.get(gang);
    if (known === undefined) byQueue.set(queue, gangs.set(gang, { gang, why, pods: 1 }));
    else known.pods += 1;
    count += 1;
    if (count % PODS_PER_STEP === 0) yield;
  }
  return byQueue;
}

function* waitingPods(plan: QueuePlan): Generator<readonly [queue: string, gang: string, why: Why]> {
  const { outOfGang, gangs, held, seeking, question, decision } = plan;
  for (const { queue, gang, because } of outOfGang) {
    if (queue !== undefined && gang !== undefined) yield [queue, gang, () => because];
  }
  if (gangs.length === 0) return;
  for (const pod of held) {
    if (pod.gang !== undefined) yield [pod.queue, pod.gang.name, () => whyWaiting(question, decision, pod)];
  }
  for (const { queue, gang } of seeking) if (gang !== undefined) yield [queue, gang.name, () => SEEKS_ROOM({})];
}

/** Present only while gangs wait in the queue itself. */
export function gangsCondition(gangs: ReadonlyMap<string, WaitingGang> | undefined): readonly Condition[] {
  if (gangs === undefined) return [];
  const shown = Array.from(gangs.values()).slice(0, MAX_SHOWN);
  const texts = shown.map(({ gang, pods, why }) => `${gang} (${pods === 1 ? '1 pod' : `${pods} pods`}): ${why().text}`);
  const more = gangs.size > MAX_SHOWN ? [`and ${gangs.size - MAX_SHOWN} more`] : [];
  const reason = shown[0]?.why().code ?? '';
  return [{ type: 'GangsWait', status: 'True', reason, message: [...texts, ...more].join('; ') }];
}
