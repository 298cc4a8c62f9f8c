import { defaultClass, type PriorityClasses } from './priority-class.ts';

/** Two classes can be made the default at once, for the API server checks a cache; which one counts then surprises (S1-5). */
export function severalDefaults(classes: PriorityClasses): string | undefined {
  const defaults = [...classes.values()].filter(({ isGlobalDefault }) => isGlobalDefault).map(({ name }) => name);
  const lowest = defaultClass(classes);
  if (lowest === undefined || defaults.length < 2) return undefined;
  const names = defaults
    .sort()
    .map((name) => `\`${name}\``)
    .join(', ');
  return `several priority classes are the global default (${names}): the lowest, \`${lowest.name}\`, counts`;
}
