import type { PriorityClass } from '#shared/domain/priority/priority-class.ts';

/** A class with its annotations. */
export interface AnnotatedClass extends PriorityClass {
  readonly annotations: ReadonlyMap<string, string>;
}
