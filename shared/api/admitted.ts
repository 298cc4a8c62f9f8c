import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Quantity } from '#shared/domain/quantity/quantity.ts';
import { type QueueAmounts, queueAmounts, queueQuantity } from '#shared/domain/queue/queue.ts';
import { jsonIn, parseWireQuantity } from '#shared/kube/decode/wire-object.ts';
import { encodeAmounts, fieldsOf, instantOf, keyOf, timeText } from './fields.ts';

/**
 * What the leader of the queues knew about a pod when it let the pod in; later edits of class, label or queue change
 * nothing.
 */
export interface Admitted {
  readonly queue: string;
  readonly application: string;
  readonly mayPreempt: boolean;
  readonly mayBePreempted: boolean;
  readonly at: Instant;
  /** The ID of the pass that let it in. */
  readonly decision: string;
  /** It went in against a pod that its Deployment replaces: what its queue used before, of the types that were full. */
  readonly against?: QueueAmounts;
  /** It went in as one of the pods of a gang; absent for pods that went in alone, and for those of versions without gangs. */
  readonly gang?: AdmittedGang;
}

/** A gang as it was let in: as many of its pods as `min` were to run together. */
export interface AdmittedGang {
  readonly name: string;
  readonly min: number;
}

const MAX_LENGTHS = { queue: 253, application: 253, decision: 64, gang: 63, text: 8_192 } as const;

/** Reads the annotation `plimsoll.dev/admitted`; `undefined` if it names no queue. Unreadable parts count as absent. */
export function decodeAdmitted(text: string | undefined): Admitted | undefined {
  if (text === undefined || text.length > MAX_LENGTHS.text) return undefined;
  const { queue, application, mayPreempt, mayBePreempted, at, decision, against, gang } = fieldsOf(jsonIn(text));
  const name = keyOf(queue, MAX_LENGTHS.queue);
  if (name === undefined) return undefined;
  const letInAs = gangIn(gang);
  return {
    queue: name,
    application: keyOf(application, MAX_LENGTHS.application) ?? '',
    mayPreempt: mayPreempt === true,
    mayBePreempted: mayBePreempted !== false,
    at: instantOf(at) ?? 0,
    decision: keyOf(decision, MAX_LENGTHS.decision) ?? '',
    ...(against !== undefined && { against: amountsIn(against) }),
    ...(letInAs !== undefined && { gang: letInAs }),
  };
}

function gangIn(gang: unknown): AdmittedGang | undefined {
  const { name: text, min } = fieldsOf(gang);
  const name = keyOf(text, MAX_LENGTHS.gang);
  const isUsable = name !== undefined && typeof min === 'number' && Number.isInteger(min) && min > 0;
  return isUsable ? { name, min } : undefined;
}

function amountsIn(against: unknown): QueueAmounts {
  const amounts = new Map<string, Quantity>();
  for (const [type, value] of Object.entries(fieldsOf(against))) {
    const parsed = parseWireQuantity(String(value));
    if (parsed.ok) amounts.set(type, parsed.quantity);
  }
  return queueAmounts(amounts);
}

/** The annotation's text. */
export function encodeAdmitted({ at, against, ...admitted }: Admitted): string {
  const quantities = against && Array.from(against, ([type, amount]) => [type, queueQuantity(type, amount)] as const);
  return JSON.stringify({
    ...admitted,
    ...(quantities && { against: encodeAmounts(new Map(quantities)) }),
    at: timeText(at),
  });
}
