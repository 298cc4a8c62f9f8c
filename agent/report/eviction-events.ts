import { resourceOf } from '#shared/domain/pressure/signal.ts';
import type { EvictionMessage } from '#shared/domain/eviction/eviction-message.ts';
import { type EventRecorder, type EventRecord, podReference } from '#shared/kube/events/event-recorder.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { AttemptOutcome } from '#agent/decide/apply-outcome.ts';
import type { Eviction } from '#agent/decide/eviction.ts';
import type { Mode } from '#shared/api/node-pressure-policy/policy.ts';
import { EVENTS } from '#agent/messages.ts';

/** The node that Events refer to. */
export interface NodeReference {
  readonly name: string;
  readonly uid: string | undefined;
}

type Recorder = Pick<EventRecorder, 'record'>;

function nodeReference({ name, uid }: NodeReference) {
  return { apiVersion: 'v1', kind: 'Node', name, ...(uid === undefined ? {} : { uid }) };
}

function inMode(text: string, mode: Mode): string {
  return mode === 'DryRun' ? EVENTS.dryRun(text) : text;
}

/** Event on the node when a pod is evicted because of a shortage; the kubelet's message. */
export function recordThresholdMet(recorder: Recorder, node: NodeReference, { signal, mode }: Eviction): void {
  recorder.record({
    regarding: nodeReference(node),
    type: 'Warning',
    reason: EVENT_REASONS.thresholdMet,
    note: inMode(EVENTS.thresholdMet(resourceOf(signal)), mode),
    action: 'Reclaiming',
  });
}

const TAKEN: readonly AttemptOutcome['kind'][] = ['evicted', 'pretended', 'foundEnding'];
const SILENT: readonly AttemptOutcome['kind'][] = [
  'notFound',
  'uidMismatch',
  'overtaken',
  'relieved',
  'unconfirmed',
  'foundGone',
  'foundPreempted',
  'timeout',
  'unreachable',
  'serverError',
];

/** Type and reason of an Event on a pod. Events of a dry run must not count as evictions or failures. */
function kindInMode(reason: string, mode: Mode): Pick<EventRecord, 'type' | 'reason'> {
  return mode === 'DryRun' ? { type: 'Normal', reason: EVENT_REASONS.evictionDryRun } : { type: 'Warning', reason };
}

/** Event on the pod: the kubelet's eviction message, or why the eviction failed. None while the outcome is unknown. */
export function recordOutcome(
  recorder: Recorder,
  { pod, mode }: Eviction,
  outcome: AttemptOutcome,
  message: EvictionMessage,
): void {
  if (SILENT.includes(outcome.kind)) return;
  const isTaken = TAKEN.includes(outcome.kind);
  const failure = 'message' in outcome ? outcome.message : outcome.kind;
  recorder.record({
    regarding: podReference(pod),
    ...kindInMode(isTaken ? EVENT_REASONS.evicted : EVENT_REASONS.evictionFailed, mode),
    note: inMode(isTaken ? message.text : EVENTS.cannotEvict(failure), mode),
    action: 'Evicting',
    ...(isTaken && message.annotations !== undefined ? { annotations: message.annotations } : {}),
  });
}

/** Event on a pod that stays because its owner has reached its limit on this node. */
export function recordOwnerLimit(recorder: Recorder, { text, facts }: Because, mode: Mode): void {
  const { namespace, pod, uid } = facts;
  recorder.record({
    regarding: podReference({ namespace: String(namespace), name: String(pod), uid: String(uid) }),
    ...kindInMode(EVENT_REASONS.evictionFailed, mode),
    note: inMode(EVENTS.notEvicted(text), mode),
    action: 'Evicting',
  });
}

/** Event on the node when the circuit breaker stops evictions. */
export function recordIneffective(recorder: Recorder, node: NodeReference, text: string): void {
  recorder.record({
    regarding: nodeReference(node),
    type: 'Warning',
    reason: EVENT_REASONS.evictionIneffective,
    note: text,
    action: 'Stopping',
  });
}
