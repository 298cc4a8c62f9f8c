import {
  isLabelValue,
  isQualifiedName,
  meetsRequirement,
  type Requirement,
  type LabelSelector,
  prepareSelector,
  type Selector,
} from '#shared/domain/labels/label-selector.ts';
import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import { isFields, listAt, textAt, type Fields } from '#sandbox/api-server/wire/object.ts';

/** A prepared label selector. */
export type LabelQuery = (labels: Readonly<Record<string, string>>) => boolean;

const MAX_QUERY_LENGTH = 20_000;

/** Reads a `labelSelector` parameter: `a=b,c!=d,e in (x,y),f notin (z),g,!h,k>5`. Empty matches all. Throws 400. */
export function parseLabelQuery(text: string): LabelQuery {
  if (text === '') return () => true;
  const requirements = parseRequirements(text);
  return (labels) => {
    const map = new Map(Object.entries(labels));
    return requirements.every((requirement) => meetsRequirement(map, requirement));
  };
}

/** The requirements of a label selector's text. Throws 400 for an invalid text. */
export function parseRequirements(text: string): readonly Requirement[] {
  if (text.length > MAX_QUERY_LENGTH)
    throw badRequest(`unable to parse requirement: label selector longer than ${MAX_QUERY_LENGTH} characters`);
  return splitOutsideBrackets(text).map(parseRequirement);
}

function splitOutsideBrackets(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (char !== ',' || depth > 0) continue;
    parts.push(text.slice(start, at));
    start = at + 1;
  }
  return [...parts, text.slice(start)];
}

const SET = /^\s*(\S+)\s+(in|notin)\s*\(([^()]*)\)\s*$/;
const COMPARISON = /^\s*([^\s=!<>(),]+)\s*(==|=|!=|<|>)\s*([^\s=!<>(),]*)\s*$/;
const EXISTENCE = /^\s*(!?)\s*([^\s=!<>(),]+)\s*$/;

const OPERATORS: Readonly<Record<string, string>> = {
  in: 'In',
  notin: 'NotIn',
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
};

function parseRequirement(text: string): Requirement {
  const requirement = matchRequirement(text);
  if (requirement === undefined)
    throw badRequest(`unable to parse requirement: found '${text.trim().slice(0, 100)}', expected: identifier`);
  if (!isQualifiedName(requirement.key)) {
    throw badRequest(
      `unable to parse requirement: <nil>: Invalid value: ${JSON.stringify(requirement.key)}: name part must consist of alphanumeric characters, '-', '_' or '.'`,
    );
  }
  const badValue = requirement.values.find((value) => !isLabelValue(value));
  if (badValue !== undefined) {
    throw badRequest(
      `unable to parse requirement: values[0][${requirement.key}]: Invalid value: ${JSON.stringify(badValue)}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
    );
  }
  return requirement;
}

function matchRequirement(text: string): Requirement | undefined {
  return matchSet(text) ?? matchComparison(text) ?? matchExistence(text);
}

function matchSet(text: string): Requirement | undefined {
  const [, key, word, list] = SET.exec(text) ?? [];
  if (key === undefined || word === undefined || list === undefined) return undefined;
  return { key, operator: OPERATORS[word] ?? '', values: list.split(',').map((value) => value.trim()) };
}

function matchComparison(text: string): Requirement | undefined {
  const [, key, sign, value] = COMPARISON.exec(text) ?? [];
  if (key === undefined || sign === undefined || value === undefined) return undefined;
  return { key, operator: OPERATORS[sign] ?? '', values: [value] };
}

function matchExistence(text: string): Requirement | undefined {
  const [, mark, key] = EXISTENCE.exec(text) ?? [];
  if (key === undefined) return undefined;
  return { key, operator: mark === '!' ? 'DoesNotExist' : 'Exists', values: [] };
}

/** Prepares a LabelSelector of an object: absent matches nothing, empty everything. */
export function selectorOf(value: unknown): Selector {
  return prepareSelector(isFields(value) ? decodeSelector(value) : undefined);
}

/** Whether labels of an object match the LabelSelector of another object. */
export function matchesSelector(value: unknown, labels: Readonly<Record<string, string>> | undefined): boolean {
  return selectorOf(value).matches(new Map(Object.entries(labels ?? {})));
}

function decodeSelector(selector: Fields): LabelSelector {
  const labels = isFields(selector['matchLabels']) ? selector['matchLabels'] : {};
  return {
    matchLabels: new Map(Object.entries(labels).map(([key, value]) => [key, String(value)])),
    matchExpressions: listAt(selector, 'matchExpressions').map((expression) => ({
      key: textAt(expression, 'key'),
      operator: textAt(expression, 'operator'),
      values: Array.isArray(expression['values']) ? expression['values'].map(String) : [],
    })),
  };
}
