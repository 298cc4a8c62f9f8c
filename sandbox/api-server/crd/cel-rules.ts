import { celValue, compileExpression, type Expression, optionalOf } from '#sandbox/api-server/cel/expression.ts';
import type { FieldError } from '#sandbox/api-server/errors/field-error.ts';
import { fieldsAt, isFields, listAt, textAt, type Fields } from '#sandbox/api-server/wire/object.ts';

/** The variables of a rule in `x-kubernetes-validations`. */
export const RULE_VARIABLES = ['self', 'oldSelf'];

export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly fieldPath: string;
  readonly reason: string;
  /** `oldSelf` is an optional value, without one for a new object. */
  readonly optionalOldSelf: boolean;
}

/** The rules of one node of a schema. */
export function celRulesOf(schema: Fields): CelRule[] {
  return listAt(schema, 'x-kubernetes-validations').map((rule) => ({
    rule: textAt(rule, 'rule'),
    message: textAt(rule, 'message'),
    messageExpression: textAt(rule, 'messageExpression'),
    fieldPath: textAt(rule, 'fieldPath'),
    reason: textAt(rule, 'reason'),
    optionalOldSelf: rule['optionalOldSelf'] === true,
  }));
}

/** Checks a value, together with the old one on an update. */
export type RuleCheck = (value: unknown, old: unknown, path: string) => FieldError[];

/** Builds the check for a schema and everything below it; undefined if there is no rule. */
export function compileRules(schema: Fields): RuleCheck | undefined {
  const checks = [ownRules(schema), propertyRules(schema), itemRules(schema), valueRules(schema)].filter(
    (check) => check !== undefined,
  );
  if (checks.length === 0) return undefined;
  return (value, old, path) => checks.flatMap((check) => check(value, old, path));
}

function ownRules(schema: Fields): RuleCheck | undefined {
  const rules = celRulesOf(schema).map(compileRule);
  if (rules.length === 0) return undefined;
  return (value, old, path) => {
    const self = celValue(escapeProperties(value, schema));
    const oldSelf = old === undefined ? undefined : celValue(escapeProperties(old, schema));
    return rules.flatMap((rule) => {
      if (rule.source.optionalOldSelf) return broken(rule, { self, oldSelf: optionalOf(oldSelf) }, path);
      return rule.needsOld && oldSelf === undefined ? [] : broken(rule, { self, oldSelf }, path);
    });
  };
}

interface CompiledRule {
  readonly source: CelRule;
  readonly expression: Expression | undefined;
  readonly message: Expression | undefined;
  /** A transition rule does not apply to a new object. */
  readonly needsOld: boolean;
}

function compileRule(source: CelRule): CompiledRule {
  return {
    source,
    expression: expressionOf(source.rule),
    message: expressionOf(source.messageExpression),
    needsOld: /\boldSelf\b/.test(source.rule),
  };
}

function expressionOf(text: string): Expression | undefined {
  const compiled = text === '' ? undefined : compileExpression(text, RULE_VARIABLES);
  return compiled?.ok === true ? compiled.expression : undefined;
}

const KINDS: Readonly<Record<string, FieldError['kind']>> = {
  FieldValueForbidden: 'Forbidden',
  FieldValueRequired: 'Required',
  FieldValueDuplicate: 'Duplicate',
};

function broken(rule: CompiledRule, variables: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  const { source, expression } = rule;
  const field = `${path}${source.fieldPath}`.replace(/^\./, '') || '<nil>';
  try {
    if (expression?.evaluate(variables) === true) return [];
    const text = messageOf(rule, variables);
    return [{ kind: KINDS[source.reason] ?? 'Invalid', field, text }];
  } catch (error) {
    return [
      {
        kind: 'Invalid',
        field,
        text: `rule evaluation error: ${error instanceof Error ? error.message : String(error)}`,
      },
    ];
  }
}

function messageOf({ source, message }: CompiledRule, variables: Readonly<Record<string, unknown>>): string {
  const computed = message?.evaluate(variables);
  if (typeof computed === 'string' && computed !== '') return computed;
  return source.message === '' ? `failed rule: ${source.rule}` : source.message;
}

function propertyRules(schema: Fields): RuleCheck | undefined {
  const checks = Object.entries(fieldsAt(schema, 'properties')).flatMap(([name, property]) => {
    const check = compileRules(property as Fields);
    return check === undefined ? [] : [{ name, check }];
  });
  if (checks.length === 0) return undefined;
  return (value, old, path) =>
    isFields(value)
      ? checks.flatMap(({ name, check }) =>
          value[name] === undefined
            ? []
            : check(value[name], isFields(old) ? old[name] : undefined, path === '' ? name : `${path}.${name}`),
        )
      : [];
}

/** Items have no identity here, so transition rules do not apply to them. */
function itemRules(schema: Fields): RuleCheck | undefined {
  const check = isFields(schema['items']) ? compileRules(schema['items']) : undefined;
  if (check === undefined) return undefined;
  return (value, _old, path) =>
    Array.isArray(value) ? value.flatMap((item, index) => check(item, undefined, `${path}[${index}]`)) : [];
}

function valueRules(schema: Fields): RuleCheck | undefined {
  const check = isFields(schema['additionalProperties']) ? compileRules(schema['additionalProperties']) : undefined;
  if (check === undefined) return undefined;
  return (value, old, path) =>
    isFields(value)
      ? Object.entries(value).flatMap(([key, item]) =>
          check(item, isFields(old) ? old[key] : undefined, `${path}.${key}`),
        )
      : [];
}

/** Words that CEL keeps for itself. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/__/g, '__underscores__'],
  [/\./g, '__dot__'],
  [/-/g, '__dash__'],
  [/\//g, '__slash__'],
];

/** How a rule writes the name of a property: `self.__namespace__`. apiserver `pkg/cel/escaping.go` Escape. */
export function escapedName(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return SIGNS.reduce((text, [sign, escaped]) => text.replace(sign, escaped), name);
}

/** A value with its properties named as rules write them. Keys of maps are data, and stay as they are. */
export function escapeProperties(value: unknown, schema: Fields): unknown {
  if (Array.isArray(value)) return value.map((item) => escapeProperties(item, fieldsAt(schema, 'items')));
  if (!isFields(value)) return value;
  const properties = fieldsAt(schema, 'properties');
  const values = fieldsAt(schema, 'additionalProperties');
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) =>
      Object.hasOwn(properties, name)
        ? [escapedName(name), escapeProperties(item, fieldsAt(properties, name))]
        : [name, escapeProperties(item, values)],
    ),
  );
}
