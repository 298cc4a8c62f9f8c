import { joinFieldErrors } from '#shared/domain/model/api-refusal.ts';
import { isLabelValue } from '#shared/domain/model/label-syntax.ts';
import { quote } from '#shared/domain/model/quote.ts';
import { utf8Length } from '#shared/domain/model/subdomain-faults.ts';
import type { ScopeTerm } from './resource-quota.ts';

const LONGEST_VALUE = 63;

const MALFORMED_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Whether a term about priority classes can be evaluated at all, and what it selects. */
export type ClassSelector =
  | { readonly kind: 'selector'; readonly matches: (className: string | undefined) => boolean }
  | { readonly kind: 'fault'; readonly message: string };

/**
 * Turns a PriorityClass term into a selector over class names, through the rules of label selectors (oddity M3): a
 * class name that is no label value cannot be listed. `pkg/apis/core/v1/helper/helpers.go`
 * ScopedResourceSelectorRequirementsAsSelector, apimachinery `labels/selector.go` NewRequirement.
 */
export function classSelector({ scopeName, operator, values }: ScopeTerm): ClassSelector {
  const matches = matcher(operator, values);
  if (matches === undefined) return fault(`${quote(operator)} is not a valid scope selector operator`);
  const faults = [
    ...countFaults(operator, values),
    ...values.flatMap((value, index) => valueFaults(scopeName, value, index)),
  ];
  return faults.length > 0 ? fault(joinFieldErrors(faults)) : { kind: 'selector', matches };
}

/** `NotIn` also selects pods without a class (oddity M4). */
function matcher(operator: string, values: readonly string[]) {
  switch (operator) {
    case 'Exists':
      return (name: string | undefined) => name !== undefined;
    case 'DoesNotExist':
      return (name: string | undefined) => name === undefined;
    case 'In':
      return (name: string | undefined) => name !== undefined && values.includes(name);
    case 'NotIn':
      return (name: string | undefined) => name === undefined || !values.includes(name);
    default:
      return undefined;
  }
}

function countFaults(operator: string, values: readonly string[]): readonly string[] {
  const needsValues = operator === 'In' || operator === 'NotIn';
  if (needsValues && values.length === 0) {
    return ["values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"];
  }
  if (needsValues || values.length === 0) return [];
  return [`values: Invalid value: ${JSON.stringify(values)}: values set must be empty for exists and does not exist`];
}

function valueFaults(scopeName: string, value: string, index: number): readonly string[] {
  const faults = [
    ...(utf8Length(value) > LONGEST_VALUE ? [`must be no more than ${LONGEST_VALUE} bytes`] : []),
    ...(isLabelValue(value.slice(0, LONGEST_VALUE)) ? [] : [MALFORMED_VALUE]),
  ];
  if (faults.length === 0) return [];
  return [`values[${index}][${scopeName}]: Invalid value: ${quote(value)}: ${faults.join('; ')}`];
}

function fault(message: string): ClassSelector {
  return { kind: 'fault', message };
}
