import type { Instant } from '#shared/domain/pod/pod.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';

/** An Event of a namespace, as far as it explains a pod. */
export interface PodEvent {
  readonly reason: string;
  readonly note: string;
  readonly at: Instant;
  /** What it regards. */
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** Reads an Event of events.k8s.io/v1; unreadable fields are empty. */
export function decodePodEvent(raw: unknown): PodEvent {
  const regarding = fieldOf(raw, 'regarding');
  const times = [
    fieldOf(fieldOf(raw, 'series'), 'lastObservedTime'),
    fieldOf(raw, 'deprecatedLastTimestamp'),
    fieldOf(raw, 'eventTime'),
    fieldOf(fieldOf(raw, 'metadata'), 'creationTimestamp'),
  ];
  return {
    reason: textOf(fieldOf(raw, 'reason')),
    note: textOf(fieldOf(raw, 'note')),
    at: times.map((each) => Date.parse(textOf(each))).find((each) => !Number.isNaN(each)) ?? 0,
    kind: textOf(fieldOf(regarding, 'kind')),
    name: textOf(fieldOf(regarding, 'name')),
    uid: textOf(fieldOf(regarding, 'uid')),
  };
}

/** The Events about one pod, the newest first, one of each reason. */
export function eventsOfPod(events: readonly PodEvent[], name: string, uid: string | undefined): readonly PodEvent[] {
  const own = events.filter((each) => each.kind === 'Pod' && each.name === name && (uid ?? each.uid) === each.uid);
  return newestOfEach(own);
}

const FAILED_CREATE = 'FailedCreate';

/** What the controllers that may create a pod of this name were refused; a person may give the name of a controller. */
export function refusalsOf(events: readonly PodEvent[], name: string): readonly PodEvent[] {
  const isOfName = (owner: string): boolean =>
    owner === name || name.startsWith(`${owner}-`) || owner.startsWith(`${name}-`);
  return newestOfEach(events.filter(({ reason, name: owner }) => reason === FAILED_CREATE && isOfName(owner)));
}

function newestOfEach(events: readonly PodEvent[]): readonly PodEvent[] {
  const newest = events.toSorted((a, b) => b.at - a.at);
  return newest.filter(({ reason }, index) => newest.findIndex((each) => each.reason === reason) === index);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
