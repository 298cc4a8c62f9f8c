import type { LabelSelector } from '#shared/domain/labels/label-selector.ts';
import type { Requirement } from '#shared/domain/labels/requirement.ts';
import { labelsAsRequirements } from '#shared/domain/labels/label-selector.ts';

/** A label selector as the query parameter `labelSelector` of a list; empty for one that selects everything. */
export function selectorText({ matchLabels, matchExpressions }: LabelSelector): string {
  return [...labelsAsRequirements(matchLabels), ...matchExpressions].map(requirementText).join(',');
}

function requirementText({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return `${key} ${operator.toLowerCase()} (${values.join(',')})`;
  }
}
