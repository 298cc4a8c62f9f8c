import { celValue } from '#sandbox/api-server/cel/cel-value.ts';
import { compileExpression, type Expression } from '#sandbox/api-server/cel/expression.ts';
import type { FieldError } from '#sandbox/api-server/errors/field-error.ts';
import { fieldsAt, isFields, listAt, textAt, type Fields } from '#sandbox/api-server/wire/object.ts';
import { escapeProperties } from './escape-properties.ts';

/** What a rule of `x-kubernetes-validations` may name. */
export const RULE_VARIABLES = ['self', 'oldSelf'];

export interface CelRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly fieldPath: string;
  readonly reason: string;
}

/** The rules of one node of a schema. */
export function celRulesOf(schema: Fields): CelRule[] {
  return listAt(schema, 'x-kubernetes-validations').map((rule) => ({
    rule: textAt(rule, 'rule'),
    message: textAt(rule, 'message'),
    messageExpression: textAt(rule, 'messageExpression'),
    fieldPath: textAt(rule, 'fieldPath'),
    reason: textAt(rule, 'reason'),
  }));
}

/** Checks a value, together with the old one on an update. */
export type RuleCheck = (value: unknown, old: unknown, path: string) => FieldError[];

/** Makes the check of a schema with all that is below it; undefined where there is no rule at all. */
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
    return rules.flatMap((rule) =>
      rule.needsOld && oldSelf === undefined ? [] : broken(rule, { self, oldSelf }, path),
    );
  };
}

interface CompiledRule {
  readonly source: CelRule;
  readonly expression: Expression | undefined;
  readonly message: Expression | undefined;
  /** A transition rule says nothing about a new object. */
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

/** Items have no identity here, so transition rules do not hold for them. */
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
