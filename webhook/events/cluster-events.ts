import { defaultClass, type PriorityClasses, severalDefaults } from '#shared/domain/priority/classes-and-policies.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import { apiVersionOf, PRIORITY_CLASSES, PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { QUOTA_LABEL, QUOTA_NAMESPACES } from '#shared/kube/admission/judged-namespaces.ts';
import { EVENTS } from '#webhook/messages.ts';

/** Records an Event on the effective class when there are several global defaults, once per change. */
export function createDefaultClassEvents(events: Pick<EventRecorder, 'record'>): (classes: PriorityClasses) => void {
  let lastNote: string | undefined;
  return (classes) => {
    const note = severalDefaults(classes);
    const lowest = defaultClass(classes);
    const hasChanged = note !== lastNote;
    lastNote = note;
    if (note === undefined || lowest === undefined || !hasChanged) return;
    const { name, uid } = lowest;
    events.record({
      regarding: { apiVersion: apiVersionOf(PRIORITY_CLASSES), kind: PRIORITY_CLASSES.kind, name, uid },
      type: 'Warning',
      reason: EVENT_REASONS.severalDefaults,
      note,
      action: 'Review',
    });
  };
}

/** A quota and the UID of its object. */
type Quota = Pick<PriorityQuota, 'name' | 'namespaces'> & { readonly uid: string };

/**
 * Records an Event on a quota for each namespace that has left it, such as one that was deleted and created again
 * without its labels. A deleted namespace is remembered, because it may come back.
 */
export function createLostNamespaceEvents(
  events: Pick<EventRecorder, 'record'>,
): (quotas: Iterable<Quota>, namespaces: readonly Namespace[]) => void {
  let known = new Map<string, ReadonlySet<string>>();
  return (quotas, namespaces) => {
    const next = new Map<string, ReadonlySet<string>>();
    for (const quota of quotas) {
      const { lost, remembered } = compare(quota, namespaces, known.get(quota.uid));
      next.set(quota.uid, remembered);
      for (const namespace of lost) events.record(lostEvent(quota, namespace));
    }
    known = next;
  };
}

/** More names are not remembered, so that namespaces with generated names do not use up memory. */
const MAX_REMEMBERED = 10_000;

function compare({ namespaces: selector }: Quota, all: readonly Namespace[], before: ReadonlySet<string> = new Set()) {
  const remembered = new Set<string>();
  const lost: string[] = [];
  for (const { name, labels } of all) {
    if (selector.matches(labels) && QUOTA_NAMESPACES.matches(labels)) remembered.add(name);
    else if (before.has(name)) lost.push(name);
  }
  const present = new Set(all.map(({ name }) => name));
  for (const name of before) if (!present.has(name) && remembered.size < MAX_REMEMBERED) remembered.add(name);
  return { lost, remembered };
}

function lostEvent({ name, uid }: Quota, namespace: string): Parameters<EventRecorder['record']>[0] {
  return {
    regarding: { apiVersion: apiVersionOf(PRIORITY_QUOTAS), kind: PRIORITY_QUOTAS.kind, name, uid },
    type: 'Warning',
    reason: EVENT_REASONS.namespaceLeftQuota,
    note: EVENTS.namespaceLeftQuota(namespace, QUOTA_LABEL),
    action: 'Review',
  };
}
