import type { Instant } from '#shared/domain/pod/pod.ts';
import { jsonIn } from '#shared/kube/decode/wire-object.ts';
import { fieldsOf, instantOf, keyOf, timeText } from './fields.ts';

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
  /** It went in against a pod that its Deployment replaces: how many pods the Deployment had. */
  readonly against?: number;
}

const MAX_LENGTHS = { queue: 253, application: 253, decision: 64, text: 2_048 } as const;

/** Reads the annotation `plimsoll.dev/admitted`; `undefined` if it names no queue. Unreadable parts count as absent. */
export function decodeAdmitted(text: string | undefined): Admitted | undefined {
  if (text === undefined || text.length > MAX_LENGTHS.text) return undefined;
  const { queue, application, mayPreempt, mayBePreempted, at, decision, against } = fieldsOf(jsonIn(text));
  const name = keyOf(queue, MAX_LENGTHS.queue);
  if (name === undefined) return undefined;
  return {
    queue: name,
    application: keyOf(application, MAX_LENGTHS.application) ?? '',
    mayPreempt: mayPreempt === true,
    mayBePreempted: mayBePreempted !== false,
    at: instantOf(at) ?? 0,
    decision: keyOf(decision, MAX_LENGTHS.decision) ?? '',
    ...(typeof against === 'number' && Number.isSafeInteger(against) && against > 0 && { against }),
  };
}

/** The annotation's text. */
export function encodeAdmitted({ at, ...admitted }: Admitted): string {
  return JSON.stringify({ ...admitted, at: timeText(at) });
}
