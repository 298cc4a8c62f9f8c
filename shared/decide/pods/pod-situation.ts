import type { Because } from '#shared/domain/base/because.ts';
import type { Disruption } from '#shared/domain/disruption/disruption.ts';
import { isKubeletRefusal } from '#shared/domain/pod/pod.ts';
import { CONDITION_WAITS_IN_QUEUE, EVENT_REASONS, QUEUE_GATE } from '#shared/kube/api-names.ts';
import { conditionIn } from '#shared/kube/decode/raw-conditions.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import {
  ended,
  gated,
  killedAtLimit,
  NOT_FOUND,
  NOT_TRIED,
  placed,
  refused,
  refusedByKubelet,
  removed,
  TERMINATING,
  WAITS_IN_QUEUE,
} from './messages.ts';
import { eventsOfPod, type PodEvent, refusalsOf } from './pod-events.ts';

/** What objects of its own namespace say about a pod: for that, a person needs no right outside of it. */
export interface PodEvidence {
  readonly name: string;
  /** As the API server holds it; absent if there is none. */
  readonly raw?: unknown;
  readonly events: readonly PodEvent[];
  /** The Disruptions of pods of this name, the newest first. */
  readonly removals: readonly Disruption[];
}

/** What is the matter with a pod. */
export interface PodSituation {
  readonly state: 'Refused' | 'Waits' | 'Runs' | 'Terminates' | 'Ended' | 'Removed' | 'Unknown';
  readonly because: Because;
  /** What else happened to it, or was refused on its way, the newest first. */
  readonly events: readonly Because[];
}

/** Was it refused, does it wait, and for what; does it run; was it evicted, preempted, moved, and why. */
export function podSituation(evidence: PodEvidence): PodSituation {
  const { name, raw, events } = evidence;
  const own = eventsOfPod(events, name, raw === undefined ? undefined : textOf(fieldOf(raw, 'metadata'), 'uid'));
  const found = raw === undefined ? missing(evidence) : present(raw, own);
  const told = own.filter(isTelling).map(({ reason, note }) => because(reason, note));
  return { ...found, events: [...outOfMemory(raw), ...told] };
}

/** The kubelet records no Event of it. */
function outOfMemory(raw: unknown): readonly Because[] {
  const isKilled = (container: unknown): boolean =>
    ['state', 'lastState'].some(
      (field) => textOf(fieldOf(fieldOf(container, field), 'terminated'), 'reason') === OOM_KILLED,
    );
  const killed = itemsOf(fieldOf(fieldOf(raw, 'status'), 'containerStatuses')).filter(isKilled);
  return killed.map((container) => because(OOM_KILLED, killedAtLimit(textOf(container, 'name'))));
}

const OOM_KILLED = 'OOMKilled';

/** What it waits for by itself is its reason already. */
const TELLING: ReadonlySet<string> = new Set([
  ...Object.values(EVENT_REASONS).filter((reason) => reason !== EVENT_REASONS.waitsInQueue),
  'FailedScheduling',
  'TaintManagerEviction',
  'NodeNotReady',
  'OOMKilling',
]);

function isTelling({ reason }: PodEvent): boolean {
  return TELLING.has(reason);
}

type Found = Pick<PodSituation, 'state' | 'because'>;

function missing({ name, events, removals }: PodEvidence): Found {
  const [removal] = removals;
  const [refusal] = refusalsOf(events, name);
  if (removal !== undefined && (refusal === undefined || removal.spec.removedAt >= refusal.at)) {
    const { cause, node, because: why } = removal.spec;
    return { state: 'Removed', because: { code: cause, text: removed(cause, node, why.text), facts: why.facts } };
  }
  if (refusal === undefined) return { state: 'Unknown', because: because('NotFound', NOT_FOUND) };
  return { state: 'Refused', because: because('Refused', refused(refusal.kind, refusal.name, refusal.note)) };
}

function present(raw: unknown, events: readonly PodEvent[]): Found {
  const [metadata, spec, status] = ['metadata', 'spec', 'status'].map((field) => fieldOf(raw, field));
  const [node, phase] = [textOf(spec, 'nodeName'), textOf(status, 'phase')];
  if (phase === 'Succeeded' || phase === 'Failed') return { state: 'Ended', because: endOf(status, node) };
  if (fieldOf(metadata, 'deletionTimestamp') !== undefined)
    return { state: 'Terminates', because: because('Terminating', TERMINATING) };
  if (node !== '') return { state: 'Runs', because: because('Placed', placed(node)) };
  return { state: 'Waits', because: waits(spec, status, events) };
}

function endOf(status: unknown, node: string): Because {
  const [phase, reason] = [textOf(status, 'phase'), textOf(status, 'reason')];
  if (phase === 'Failed' && isKubeletRefusal(reason))
    return because('RefusedByKubelet', refusedByKubelet(node, reason));
  const message = textOf(status, 'message');
  return because(reason || 'Ended', message === '' ? ended(phase) : `${ended(phase)}; ${message}`);
}

/** The condition is current, the Event may be an hour old. Without either the leader has not come to it yet. */
function waits(spec: unknown, status: unknown, events: readonly PodEvent[]): Because {
  const gates = itemsOf(fieldOf(spec, 'schedulingGates')).map((gate) => textOf(gate, 'name'));
  if (gates.includes(QUEUE_GATE)) return inQueue(status, events);
  if (gates.length > 0) return because('Gated', gated(gates));
  const scheduled = textOf(conditionIn(status, 'PodScheduled'), 'message');
  return scheduled === '' ? because('NotTried', NOT_TRIED) : because('Unschedulable', scheduled);
}

function inQueue(status: unknown, events: readonly PodEvent[]): Because {
  const condition = conditionIn(status, CONDITION_WAITS_IN_QUEUE);
  if (condition !== undefined) return because(textOf(condition, 'reason'), textOf(condition, 'message'));
  const event = events.find(({ reason }) => reason === EVENT_REASONS.waitsInQueue);
  return because(EVENT_REASONS.waitsInQueue, event?.note ?? WAITS_IN_QUEUE);
}

function textOf(object: unknown, field: string): string {
  const value = fieldOf(object, field);
  return typeof value === 'string' ? value : '';
}

function because(code: string, text: string): Because {
  return { code, text, facts: {} };
}
