import type { Requirement } from './requirement.ts';
import { isValidRequirement, meetsRequirement } from './requirement.ts';

/** `undefined` selects nothing, an empty selector everything. */
export interface LabelSelector {
  readonly matchLabels: ReadonlyMap<string, string>;
  readonly matchExpressions: readonly Requirement[];
}

/** A label selector made ready to be asked often. */
export interface Selector {
  /** It has no requirement, and so matches everything; some readers take that for nothing. */
  readonly isEmpty: boolean;
  readonly matches: (labels: ReadonlyMap<string, string>) => boolean;
}

/** A selector together with what it was prepared from. */
export interface PreparedSelector extends Selector {
  /** As it was written; `undefined` for an absent one. */
  readonly written: LabelSelector | undefined;
  /** All of them must be met; `undefined` where nothing matches whatever its labels are. */
  readonly requirements: readonly Requirement[] | undefined;
}

const NOTHING: PreparedSelector = { written: undefined, isEmpty: false, requirements: undefined, matches: () => false };

const OPERATORS: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/**
 * Prepares a selector: absent matches nothing, empty everything, one that the API server would refuse nothing.
 * `apimachinery/pkg/apis/meta/v1/helpers.go` LabelSelectorAsSelector.
 */
export function prepareSelector(selector: LabelSelector | undefined): PreparedSelector {
  if (selector === undefined) return NOTHING;
  const requirements = [...labelsAsRequirements(selector.matchLabels), ...selector.matchExpressions];
  if (!requirements.every(isValidLabelRequirement)) return { ...NOTHING, written: selector };
  return {
    written: selector,
    isEmpty: requirements.length === 0,
    requirements,
    matches: (labels) => requirements.every((requirement) => meetsRequirement(labels, requirement)),
  };
}

/** Above this, a look-up is faster than going through the values. */
const MANY_VALUES = 16;

/**
 * The same selector, whose answers take no time by the number of values that a requirement lists. It takes more memory,
 * so it is for selectors that are asked often and not kept.
 */
export function withValueSets(selector: PreparedSelector): PreparedSelector {
  const { requirements } = selector;
  if (requirements === undefined || requirements.every(({ values }) => values.length <= MANY_VALUES)) return selector;
  const meets = requirements.map(asQuestion);
  return { ...selector, matches: (labels) => meets.every((isMet) => isMet(labels)) };
}

function asQuestion(requirement: Requirement): Selector['matches'] {
  const { key, operator, values } = requirement;
  if (values.length <= MANY_VALUES) return (labels) => meetsRequirement(labels, requirement);
  const listed = new Set(values);
  const isIn = operator === 'In';
  return (labels) => listed.has(labels.get(key) as string) === isIn;
}

/** Each label as the requirement that it has exactly this value. */
export function labelsAsRequirements(labels: ReadonlyMap<string, string>): Requirement[] {
  return Array.from(labels, ([key, value]) => ({ key, operator: 'In', values: [value] }));
}

/** What it costs to ask a selector about one set of labels, in comparisons. */
export function selectorSize({ matchLabels, matchExpressions }: LabelSelector): number {
  return matchExpressions.reduce((size, { values }) => size + 1 + values.length, matchLabels.size);
}

/** True for selectors written alike, so that one need not be prepared again. */
export function isSameSelector(a: LabelSelector | undefined, b: LabelSelector | undefined): boolean {
  return spell(a) === spell(b);
}

function spell(selector: LabelSelector | undefined): string {
  return selector === undefined ? '' : JSON.stringify([[...selector.matchLabels], selector.matchExpressions]);
}

function isValidLabelRequirement(requirement: Requirement): boolean {
  return OPERATORS.includes(requirement.operator) && isValidRequirement(requirement);
}
