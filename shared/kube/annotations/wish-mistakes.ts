import {
  ANNOTATION_ALLOW_PREEMPTION,
  ANNOTATION_EVICT,
  FOREIGN_ALLOW_PREEMPTION,
  PREEMPTION_BY_POD,
} from '#shared/kube/api-names.ts';

type Annotations = ReadonlyMap<string, string>;
type Allowed = Readonly<Record<string, readonly string[]>>;

const WORDS_OF_POD: Allowed = {
  [ANNOTATION_EVICT]: ['never', 'last'],
  [ANNOTATION_ALLOW_PREEMPTION]: ['true', 'false'],
  [FOREIGN_ALLOW_PREEMPTION]: ['true', 'false'],
};
/** The annotations of a pod that are read. */
export const READ_ANNOTATIONS: readonly string[] = Object.keys(WORDS_OF_POD);
const WORDS_OF_CLASS: Allowed = {
  [ANNOTATION_ALLOW_PREEMPTION]: ['true', 'false', PREEMPTION_BY_POD],
  [FOREIGN_ALLOW_PREEMPTION]: ['true', 'false', PREEMPTION_BY_POD],
};
const LONGEST_SHOWN = 40;

/** What a pod asks for and does not get, in sentences for the person who wrote the annotations (D-22). */
export function wishMistakesOfPod(annotations: Annotations): readonly string[] {
  return wishMistakes(annotations, WORDS_OF_POD);
}

/** As of a pod, for a priority class. */
export function wishMistakesOfClass(annotations: Annotations): readonly string[] {
  return wishMistakes(annotations, WORDS_OF_CLASS);
}

function wishMistakes(annotations: Annotations, allowed: Allowed): readonly string[] {
  if (annotations.size === 0) return [];
  const unread = Object.entries(allowed).flatMap(([name, words]) => unreadable(name, annotations.get(name), words));
  return [...unread, ...bothNames(annotations)];
}

function unreadable(name: string, value: string | undefined, words: readonly string[]): readonly string[] {
  if (value === undefined || words.includes(value)) return [];
  const accepted = words.map((word) => `\`${word}\``).join(', ');
  const shown = value.slice(0, LONGEST_SHOWN);
  return [`annotation \`${name}\` is \`${shown}\` and counts as absent: must be one of ${accepted}`];
}

function bothNames(annotations: Annotations): readonly string[] {
  const areBoth = [ANNOTATION_ALLOW_PREEMPTION, FOREIGN_ALLOW_PREEMPTION].every((name) => annotations.has(name));
  return areBoth
    ? [
        `annotation \`${FOREIGN_ALLOW_PREEMPTION}\` is ignored, as it is set together with \`${ANNOTATION_ALLOW_PREEMPTION}\``,
      ]
    : [];
}
