import { defaultClass, type PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import { severalDefaults } from '#shared/domain/priority/several-defaults.ts';
import type { EventRecorder } from '#shared/kube/events/event-recorder.ts';
import { apiVersionOf, PRIORITY_CLASSES } from '#shared/kube/resource.ts';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';

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
