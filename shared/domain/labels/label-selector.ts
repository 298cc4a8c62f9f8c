/** `undefined` selects nothing, an empty selector everything. */
export interface LabelSelector {
  readonly matchLabels: ReadonlyMap<string, string>;
  readonly matchExpressions: readonly Requirement[];
}

/** A label selector prepared for frequent use. */
export interface Selector {
  /** It has no requirement, and so matches everything; for some callers that means nothing. */
  readonly isEmpty: boolean;
  readonly matches: (labels: ReadonlyMap<string, string>) => boolean;
}

/** A selector together with what it was prepared from. */
export interface PreparedSelector extends Selector {
  /** As it was written; `undefined` for an absent one. */
  readonly written: LabelSelector | undefined;
  /** All of them must be met; `undefined` if no labels can match. */
  readonly requirements: readonly Requirement[] | undefined;
}

/** The labels of what has none, or is not known. */
export const NO_LABELS: ReadonlyMap<string, string> = new Map();

/** What an absent selector means where it selects everything. */
export const EVERYTHING: PreparedSelector = {
  written: undefined,
  isEmpty: true,
  requirements: [],
  matches: () => true,
};

const NOTHING: PreparedSelector = { written: undefined, isEmpty: false, requirements: undefined, matches: () => false };

const OPERATORS: readonly string[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/**
 * Prepares a selector: an absent one matches nothing, an empty one everything, and one that the API server would refuse
 * nothing. `apimachinery/pkg/apis/meta/v1/helpers.go` LabelSelectorAsSelector.
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
 * The same selector with look-ups whose time does not depend on the number of values that a requirement lists. It takes
 * more memory, so it is for selectors that are used often but not kept.
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

/** The cost of matching one set of labels, in comparisons. */
export function selectorSize({ matchLabels, matchExpressions }: LabelSelector): number {
  return matchExpressions.reduce((size, { values }) => size + 1 + values.length, matchLabels.size);
}

/** True for selectors that are written alike, so that the prepared one can be reused. */
export function isSameSelector(a: LabelSelector | undefined, b: LabelSelector | undefined): boolean {
  return spell(a) === spell(b);
}

function spell(selector: LabelSelector | undefined): string {
  return selector === undefined ? '' : JSON.stringify([[...selector.matchLabels], selector.matchExpressions]);
}

function isValidLabelRequirement(requirement: Requirement): boolean {
  return OPERATORS.includes(requirement.operator) && isValidRequirement(requirement);
}

export interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const LARGEST = 2n ** 63n;

type Labels = ReadonlyMap<string, string>;

/** True if Kubernetes accepts the requirement. `apimachinery/pkg/labels/selector.go` NewRequirement. */
export function isValidRequirement(requirement: Requirement): boolean {
  if (!isQualifiedName(requirement.key) || !requirement.values.every(isLabelValue)) return false;
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      return requirement.values.length > 0;
    case 'Exists':
    case 'DoesNotExist':
      return requirement.values.length === 0;
    case 'Gt':
    case 'Lt':
      return requirement.values.length === 1 && requirement.values.every((value) => parseInteger(value) !== undefined);
    default:
      return false;
  }
}

/** True if the labels meet a valid requirement. `apimachinery/pkg/labels/selector.go` Requirement.Matches. */
export function meetsRequirement(labels: Labels, requirement: Requirement): boolean {
  const value = labels.get(requirement.key);
  switch (requirement.operator) {
    case 'In':
      return value !== undefined && requirement.values.includes(value);
    case 'NotIn':
      return value === undefined || !requirement.values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return meetsComparison(value, requirement);
  }
}

function meetsComparison(value: string | undefined, requirement: Requirement): boolean {
  const left = parseInteger(value ?? '');
  const right = parseInteger(requirement.values[0] ?? '');
  if (left === undefined || right === undefined) return false;
  return requirement.operator === 'Gt' ? left > right : left < right;
}

/** A decimal integer of 64 bits with an optional sign, as Go's `strconv.ParseInt` reads it. */
function parseInteger(text: string): bigint | undefined {
  const digits = text.startsWith('-') || text.startsWith('+') ? text.slice(1) : text;
  if (digits.length === 0 || digits.length > MAX_INTEGER_LENGTH || !isDigits(digits)) return undefined;
  const value = text.startsWith('-') ? -BigInt(digits) : BigInt(digits);
  return value >= -LARGEST && value < LARGEST ? value : undefined;
}

/** The maximum length of a label value. */
const MAX_INTEGER_LENGTH = 63;

function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}

const MAX_NAME_LENGTH = 63;
const MAX_SUBDOMAIN_LENGTH = 253;

/** True for a valid label value: empty, or a name. `apimachinery/pkg/util/validation` IsValidLabelValue. */
export function isLabelValue(text: string): boolean {
  return text === '' || isName(text);
}

/** True if only its length can make it an invalid label value. */
export function hasLabelValueShape(text: string): boolean {
  return text === '' || hasNameShape(text);
}

/** True for `name` or `dns.prefix/name`. `apimachinery/pkg/util/validation` IsQualifiedName. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return isName(text);
  return isDnsSubdomain(text.slice(0, slash)) && isName(text.slice(slash + 1));
}

/** Up to 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends. */
function isName(text: string): boolean {
  return text.length > 0 && text.length <= MAX_NAME_LENGTH && hasNameShape(text);
}

function hasNameShape(text: string): boolean {
  if (!isAlphanumeric(text.charCodeAt(0)) || !isAlphanumeric(text.charCodeAt(text.length - 1))) return false;
  for (let at = 1; at < text.length - 1; at += 1) {
    if (!isAlphanumeric(text.charCodeAt(at)) && !'-_.'.includes(text.charAt(at))) return false;
  }
  return true;
}

function isDnsSubdomain(text: string): boolean {
  return text.length <= MAX_SUBDOMAIN_LENGTH && text.split('.').every(isDnsLabel);
}

/** True for one dot-free part of a DNS name; the caller checks its length. */
function isDnsLabel(text: string): boolean {
  if (text.length === 0 || text.startsWith('-') || text.endsWith('-')) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (!isDigit(code) && !isLowerCase(code) && text.charAt(at) !== '-') return false;
  }
  return true;
}

function isAlphanumeric(code: number): boolean {
  return isDigit(code) || isLowerCase(code) || (code >= 0x41 && code <= 0x5a);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isLowerCase(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

/** Length of one UTF-16 unit in UTF-8. */
const MAX_BYTES = 3;

const MALFORMED =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  "end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** Why a text is not a DNS subdomain, in the API's words. apimachinery `util/validation` IsDNS1123Subdomain. */
export function subdomainFaults(text: string): readonly string[] {
  const faults: string[] = [];
  if (text.length * MAX_BYTES > MAX_SUBDOMAIN_LENGTH && utf8Length(text) > MAX_SUBDOMAIN_LENGTH)
    faults.push(`must be no more than ${MAX_SUBDOMAIN_LENGTH} characters`);
  if (!text.split('.').every(isDnsLabel)) faults.push(MALFORMED);
  return faults;
}

/** How many bytes a text takes as UTF-8, which is what Go counts. A lone surrogate is sent as U+FFFD: three. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) bytes += utf8Width(character.codePointAt(0) ?? 0);
  return bytes;
}

function utf8Width(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x1_0000 ? 3 : 4;
}
