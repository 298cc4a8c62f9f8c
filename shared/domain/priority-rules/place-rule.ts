import { compareTexts } from '#shared/domain/model/compare-texts.ts';
import type { Requirement } from '#shared/domain/labels/requirement.ts';
import type { LabelTest } from './priority-rules.ts';

/** Where a rule is found, and what remains to be tested there. */
export interface RulePlace {
  /** The label by which it is found, with each of these values; `undefined`: found in every namespace. */
  readonly label: { readonly key: string; readonly values: readonly string[] } | undefined;
  readonly tests: readonly LabelTest[];
}

/** A rule that may have more values is found everywhere: each value takes a place of its own. */
const MOST_VALUES = 64;

/** The equality with the fewest values leads to the rule; `=` and `In` are equalities. */
export function placeRule(requirements: readonly Requirement[]): RulePlace {
  const leading = requirements
    .filter((each) => each.operator === 'In' && each.values.length <= MOST_VALUES)
    .toSorted((a, b) => a.values.length - b.values.length || compareTexts(a.key, b.key))[0];
  const tests = requirements.filter((each) => each !== leading).map(labelTest);
  if (leading === undefined) return { label: undefined, tests };
  return { label: { key: leading.key, values: [...new Set(leading.values)] }, tests };
}

/** The same rule where its label leads nowhere. */
export function placeEverywhere(requirements: readonly Requirement[]): RulePlace {
  return { label: undefined, tests: requirements.map(labelTest) };
}

function labelTest({ key, operator, values }: Requirement): LabelTest {
  const hasValues = operator === 'In' || operator === 'NotIn';
  return { key, values: hasValues ? values : undefined, is: operator === 'In' || operator === 'Exists' };
}
