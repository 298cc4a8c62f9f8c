import { type MaySee, namespaceOf, redactText } from '#dashboard/views/redact.ts';
import type { KeptPodView, PodAnswerView, PressureAnswerView } from './answer.ts';

/** An answer without names, figures and reasons of pods that the viewer may not see; how many there are stays. */
export function redactPressure(answer: PressureAnswerView, maySee: MaySee): PressureAnswerView {
  const kept = (each: KeptPodView): KeptPodView => redactPod(each, maySee);
  return {
    ...answer,
    message: redactText(answer.message, maySee),
    victims: answer.victims.map((pod) => (maySee(namespaceOf(pod)) ? pod : '')),
    order: answer.order.map((each) =>
      maySee(namespaceOf(each.pod)) ? { ...each, ...kept(each) } : { ...each, ...kept(each), usage: '', request: '' },
    ),
    kept: answer.kept.map(kept),
    notes: answer.notes.map((note) => redactText(note, maySee)),
  };
}

function redactPod({ pod, priority, why }: KeptPodView, maySee: MaySee): KeptPodView {
  if (maySee(namespaceOf(pod))) return { pod, priority, why: redactText(why, maySee) };
  return { pod: '', priority: undefined, why: '' };
}

/** The same for one more pod; the pod itself was named by the viewer. */
export function redactPodAnswer(answer: PodAnswerView, maySee: MaySee): PodAnswerView {
  const text = (each: string): string => redactText(each, maySee);
  return {
    ...answer,
    why: text(answer.why),
    victims: answer.victims.map((each) =>
      maySee(namespaceOf(each.pod)) ? each : { pod: '', priority: undefined, className: '' },
    ),
    reasons: answer.reasons.map(text),
    notes: answer.notes.map(text),
  };
}
