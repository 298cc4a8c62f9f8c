import type {
  EvictionView,
  NextView,
  PreemptionView,
  NodeSummary,
  NodeView,
  QueueView,
  QuotaView,
  TimelineEntry,
} from './view.ts';

/** Whether the viewer may list the pods of a namespace. */
export type MaySee = (namespace: string) => boolean;

/** A row without the names of pods that the viewer may not see. */
export function redactSummary(node: NodeSummary, maySee: MaySee): NodeSummary {
  const next = node.next === undefined ? undefined : visible(node.next, maySee);
  return { ...node, next, pods: node.pods.filter((pod) => maySee(namespaceOf(pod))) };
}

/** A node without names and figures of pods that the viewer may not see; it keeps their number. */
export function redactNode(node: NodeView, maySee: MaySee): NodeView {
  return {
    ...node,
    ...redactSummary(node, maySee),
    // Type and reason stay, but a message may name pods.
    conditions: node.conditions.map((each) => ({ ...each, message: '' })),
    candidates: node.candidates.map((each) => redactNext(each, maySee)),
    evictions: node.evictions.map((each) => redactEviction(each, maySee)),
    avoided: node.avoided
      .filter(({ owner }) => maySee(namespaceOf(owner)))
      .map((each) => ({ ...each, cause: redactText(each.cause, maySee) })),
  };
}

function redactNext(next: NextView, maySee: MaySee): NextView {
  if (maySee(namespaceOf(next.pod))) return { ...next, why: redactText(next.why, maySee) };
  return { rank: next.rank, pod: '', priority: undefined, usage: undefined, request: undefined, why: '' };
}

function redactEviction(eviction: EvictionView, maySee: MaySee): EvictionView {
  if (!maySee(namespaceOf(eviction.pod))) return { ...eviction, pod: '', why: '' };
  return { ...eviction, why: redactText(eviction.why, maySee) };
}

/** Removals of pods that the viewer may not see stay in the timeline, without names. */
export function redactTimeline(timeline: readonly TimelineEntry[], maySee: MaySee): readonly TimelineEntry[] {
  return timeline.map((entry) => {
    const mayRead = entry.namespace !== '' && maySee(entry.namespace);
    if (mayRead) return { ...entry, why: redactText(entry.why, maySee) };
    if (entry.namespace !== '') return { ...entry, about: 'Pod', namespace: '', why: '' };
    return { ...entry, why: '' };
  });
}

export function redactQuotas(quotas: readonly QuotaView[], maySee: MaySee): readonly QuotaView[] {
  const visibleQuotas = quotas.filter(({ namespace }) => namespace === '' || maySee(namespace));
  return visibleQuotas.map((quota) => ({
    ...quota,
    shares: quota.shares.filter(({ namespace }) => maySee(namespace)),
    reservations: quota.reservations.filter(({ pod }) => maySee(namespaceOf(pod))),
  }));
}

/**
 * A preemption keeps its time, node and priorities, but names and reasons only from namespaces that the viewer may see.
 */
export function redactPreemptions(preemptions: readonly PreemptionView[], maySee: MaySee): readonly PreemptionView[] {
  return preemptions.map((each) => {
    if (maySee(namespaceOf(each.victim))) return { ...each, why: redactText(each.why, maySee) };
    return { ...each, victim: '', madeRoomFor: '', replacement: '', why: '' };
  });
}

/**
 * Amounts and conditions stay, because everyone who may read NodePressures may read Queues. Hidden pods have no name.
 */
export function redactQueues(queues: readonly QueueView[], maySee: MaySee): readonly QueueView[] {
  return queues.map((queue) => ({
    ...queue,
    conditions: queue.conditions.map((each) => ({ ...each, message: redactText(each.message, maySee) })),
    evicted: queue.evicted.map((each) =>
      maySee(namespaceOf(each.pod)) ? { ...each, why: redactText(each.why, maySee) } : { ...each, pod: '', why: '' },
    ),
  }));
}

/**
 * A whole name as in reasons, `namespace/pod` or `namespace/Kind/name`, because a part of one could name something
 * else. If the first part has a dot, as in `plimsoll.dev/evict`, it is not a namespace.
 */
const NAME = /(?<![-.\w/])[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\/[a-zA-Z0-9](?:[-.\w]*\w)?)+/g;

/** A reason compares a pod with others, possibly in namespaces that the viewer may not see. */
export function redactText(text: string, maySee: MaySee): string {
  return text.replace(NAME, (name) => {
    if (maySee(namespaceOf(name))) return name;
    return name.split('/').length > 2 ? 'an owner of another namespace' : 'a pod of another namespace';
  });
}

function visible(pod: string, maySee: MaySee): string {
  return maySee(namespaceOf(pod)) ? pod : '';
}

/** The namespace in `namespace/name` or `namespace/kind/name`. */
export function namespaceOf(name: string): string {
  return name.split('/')[0] ?? '';
}
