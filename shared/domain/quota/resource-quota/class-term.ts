import { joinFieldErrors } from '#shared/domain/model/api-refusal.ts';
import { hasLabelValueShape } from '#shared/domain/labels/label-syntax.ts';
import { quote } from '#shared/domain/model/quote.ts';
import { utf8Length } from '#shared/domain/labels/subdomain-faults.ts';
import type { ScopeTerm } from './resource-quota.ts';

/** Whether a pod matches a term, or why the term cannot be evaluated. */
export type TermAnswer =
  { readonly ok: true; readonly matches: boolean } | { readonly ok: false; readonly message: string };

const OPERATORS: readonly string[] = ['In', 'NotIn', 'DoesNotExist'];
const LONGEST_VALUE = 63;
const SHAPE_MISTAKE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/**
 * Whether a class name, `undefined` for none, meets a `PriorityClass` term. Names are compared, never numbers (oddity
 * M4); `Exists` ignores values, the other operators validate them first (oddity M3).
 * `pkg/quota/v1/evaluator/core/pods.go` podMatchesScopeFunc, podMatchesSelector.
 */
export function matchesClass(term: ScopeTerm, className: string | undefined): TermAnswer {
  if (term.operator === 'Exists') return { ok: true, matches: className !== undefined };
  const mistake = findMistake(term);
  if (mistake !== undefined) return { ok: false, message: `failed to parse and convert selector: ${mistake}` };
  return { ok: true, matches: meetsOperator(term, className) };
}

function meetsOperator({ operator, values }: ScopeTerm, className: string | undefined): boolean {
  const isListed = className !== undefined && values.includes(className);
  switch (operator) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    default:
      return className === undefined;
  }
}

/** ScopedResourceSelectorRequirementsAsSelector. */
function findMistake(term: ScopeTerm): string | undefined {
  if (!OPERATORS.includes(term.operator)) return `${quote(term.operator)} is not a valid scope selector operator`;
  const mistakes = [
    ...findCountMistake(term),
    ...term.values.flatMap((value, at) => findValueMistake(term, value, at)),
  ];
  return mistakes.length === 0 ? undefined : joinFieldErrors(mistakes);
}

function findCountMistake({ operator, values }: ScopeTerm): readonly string[] {
  const takesValues = operator === 'In' || operator === 'NotIn';
  if (takesValues === values.length > 0) return [];
  return takesValues
    ? ["values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"]
    : [`values: Invalid value: ${JSON.stringify(values)}: values set must be empty for exists and does not exist`];
}

/** A class name may be longer than a label's value, which this selector takes it for. */
function findValueMistake({ scopeName }: ScopeTerm, value: string, at: number): readonly string[] {
  const mistakes = [
    ...(utf8Length(value) > LONGEST_VALUE ? [`must be no more than ${LONGEST_VALUE} bytes`] : []),
    ...(hasLabelValueShape(value) ? [] : [SHAPE_MISTAKE]),
  ];
  if (mistakes.length === 0) return [];
  return [`values[${at}][${scopeName}]: Invalid value: ${quote(value)}: ${mistakes.join('; ')}`];
}
