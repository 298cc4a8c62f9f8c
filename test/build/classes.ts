import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import type { Classes } from '#scheduler/extender/preemption-rules.ts';

/** PriorityClasses that never change. */
export function fixedClasses(classes: readonly AnnotatedClass[]): Classes {
  return { get: (name) => classes.find((each) => each.name === name), onChange: () => () => undefined };
}
