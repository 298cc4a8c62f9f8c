import { type Command, InvalidArgumentError } from 'commander';
import {
  isValidRequirement,
  prepareSelector,
  type Requirement,
  type Selector,
} from '#shared/domain/labels/label-selector.ts';

/** Adds `-l, --selector`; `what` names the objects whose labels count. */
export function addSelectorOption(command: Command, what: string): Command {
  return command.option('-l, --selector <labels>', `only ${what} with these labels, such as pool=batch`, parseSelector);
}

const KEY = String.raw`[A-Za-z0-9._/-]+`;
const EXISTENCE = new RegExp(`^(!?)\\s*(${KEY})$`);
const EQUALITY = new RegExp(`^(${KEY})\\s*(!=|==?)\\s*([A-Za-z0-9._-]*)$`);
const MEMBERSHIP = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const BETWEEN_TERMS = /,(?![^(]*\))/;

/** A selector as kubectl takes it: `a=b,c!=d,e in (f,g),!h`. `apimachinery/pkg/labels` Parse. */
export function parseSelector(text: string): Selector {
  const terms = text.trim() === '' ? [] : text.split(BETWEEN_TERMS).map((term) => term.trim());
  const requirements = terms.map(requirementOf);
  const wrong = requirements.findIndex((each) => each === undefined || !isValidRequirement(each));
  if (wrong >= 0)
    throw new InvalidArgumentError(
      `cannot read "${terms[wrong] ?? ''}": expected KEY=VALUE, KEY!=VALUE,
    KEY in (VALUE,…), KEY notin (VALUE,…), KEY or !KEY`.replace(/\s+/g, ' '),
    );
  return prepareSelector({
    matchLabels: new Map(),
    matchExpressions: requirements.filter((each) => each !== undefined),
  });
}

type Groups = readonly (string | undefined)[];

/** Each form of a term with what its groups say. */
const FORMS: readonly (readonly [RegExp, (...groups: Groups) => Requirement])[] = [
  [EXISTENCE, (not, key = '') => ({ key, operator: not === '!' ? 'DoesNotExist' : 'Exists', values: [] })],
  [EQUALITY, (key = '', sign, value = '') => ({ key, operator: sign === '!=' ? 'NotIn' : 'In', values: [value] })],
  [
    MEMBERSHIP,
    (key = '', word, list = '') => ({
      key,
      operator: word === 'in' ? 'In' : 'NotIn',
      values: list.split(',').map((each) => each.trim()),
    }),
  ],
];

function requirementOf(term: string): Requirement | undefined {
  for (const [form, read] of FORMS) {
    const match = form.exec(term);
    if (match !== null) return read(...match.slice(1));
  }
  return undefined;
}
