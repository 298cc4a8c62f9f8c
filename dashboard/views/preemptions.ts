import type { Disruption, Preemptor } from '#shared/domain/disruption/disruption.ts';
import { decodeDisruption } from '#shared/api/disruption.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { type EventEntry, entryOfRecord } from './timeline.ts';
import type { PreemptionView } from './view.ts';

/** One Disruption for the timeline, and as a preemption if it is one. */
export interface RecordView {
  readonly entry: EventEntry;
  readonly preemption: PreemptionView | undefined;
}

const MAX_PREEMPTIONS = 200;

/** Decodes a Disruption; only our own process writes them. Never throws. */
export function recordView(raw: KubeObject): RecordView | undefined {
  const record = decodeDisruption(raw);
  return record && { entry: entryOfRecord(record), preemption: preemptionOf(record) };
}

function preemptionOf({ namespace, spec, outcome }: Disruption): PreemptionView | undefined {
  if (spec.cause !== 'Preemption') return undefined;
  const { pod, priority, priorityClassName, node, removedAt, because } = spec;
  const { placedOn, replacement } = outcome;
  return {
    at: removedAt,
    victim: `${namespace}/${pod}`,
    priority,
    className: priorityClassName ?? '',
    node,
    ...preemptorOf(namespace, spec.madeRoomFor),
    placedOn: placedOn ?? '',
    replacement: replacement === undefined ? '' : `${replacement.pod} on ${replacement.node}`,
    why: because.text,
  };
}

type PreemptorView = Pick<PreemptionView, 'madeRoomFor' | 'preemptorPriority' | 'preemptorClassName' | 'nominatedNode'>;

/** The record names the pod only if it is in the same namespace. */
function preemptorOf(namespace: string, preemptor: Preemptor | undefined): PreemptorView {
  const { pod, priority, priorityClassName, nominatedNode } = preemptor ?? NO_PREEMPTOR;
  return {
    madeRoomFor: pod === undefined ? '' : `${namespace}/${pod}`,
    preemptorPriority: priority,
    preemptorClassName: priorityClassName ?? '',
    nominatedNode,
  };
}

const NO_PREEMPTOR = { pod: undefined, priority: undefined, priorityClassName: undefined, nominatedNode: '' } as const;

/** The newest preemptions, newest first. */
export function preemptionsOf(records: Iterable<RecordView>): readonly PreemptionView[] {
  const all = Array.from(records).flatMap(({ preemption }) => preemption ?? []);
  return all.sort((a, b) => b.at - a.at).slice(0, MAX_PREEMPTIONS);
}
