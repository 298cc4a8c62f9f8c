import type { PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import { countsPods } from './charged-names.ts';
import type { PriorityQuota, PriorityScope } from './priority-quota.ts';

/** The settings of a PriorityQuota that can never take effect with the existing classes, as sentences. */
export function reviewQuota({ scope, hard }: PriorityQuota, classes: PriorityClasses): readonly string[] {
  const uncharged = [...hard.keys()].filter((name) => !countsPods(name));
  return [
    ...scopeProblems(scope, classes),
    ...uncharged.map((name) => `hard[${name}]: pods are not charged for this resource`),
  ];
}

function scopeProblems(scope: PriorityScope, classes: PriorityClasses): readonly string[] {
  if (scope.kind === 'classes') {
    const missing = [...scope.names].filter((name) => !classes.has(name));
    return missing.map((name) => `priorityClassNames: there is no class \`${name}\``);
  }
  const { min, max } = scope;
  // Pods without a class have priority 0.
  const isMet = (min <= 0 && max >= 0) || [...classes.values()].some(({ value }) => value >= min && value <= max);
  return isMet ? [] : [`priority: there is no class from ${min} to ${max}`];
}
