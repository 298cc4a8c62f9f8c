import { isDeepStrictEqual } from 'node:util';
import { Environment, Optional, type ParseResult } from '@marcbachmann/cel-js';
import { isFields } from '#sandbox/api-server/wire/object.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import {
  approximateNumber,
  compareQuantities,
  type Quantity,
  quantityValue,
} from '#shared/domain/quantity/quantity.ts';

/** A compiled CEL expression. */
export interface Expression {
  /** The value for these variables. Throws an Error whose message says what went wrong. */
  readonly evaluate: (variables: Readonly<Record<string, unknown>>) => unknown;
}

export type Compiled =
  { readonly ok: true; readonly expression: Expression } | { readonly ok: false; readonly message: string };

const LIMITS = { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1_000, maxMapEntries: 1_000 };

/** Compiles an expression over the variables named. */
export function compileExpression(text: string, variables: readonly string[]): Compiled {
  const environment = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: LIMITS,
  });
  addKubernetesLibrary(environment);
  for (const name of variables) environment.registerVariable(name, 'dyn');
  try {
    const parsed = environment.parse(text);
    const check = parsed.check();
    if (!check.valid) return { ok: false, message: firstLine(check.error) };
    return { ok: true, expression: { evaluate: (values) => evaluate(parsed, values) } };
  } catch (error) {
    return { ok: false, message: firstLine(error) };
  }
}

function evaluate(parsed: ParseResult, values: Readonly<Record<string, unknown>>): unknown {
  try {
    return parsed(values) as unknown;
  } catch (error) {
    throw new Error(firstLine(error), { cause: error });
  }
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0] ?? message;
}

/** JSON as CEL sees it: whole numbers are `int` (bigint), others `double`. */
export function celValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (!isFields(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, celValue(item)]));
}

/** An optional value as `optional.of` and `optional.none` make it. */
export function optionalOf(value: unknown): unknown {
  return value === undefined ? Optional.none() : Optional.of(value);
}

/** A quantity in an expression. */
class QuantityValue {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

/** The `authorizer` of an expression, at any step of a check. */
export class AuthorizerValue {
  /** In the sandbox every user may do everything. */
  check(): DecisionValue {
    return new DecisionValue(true);
  }
}

/** The result of an authorization check. */
class DecisionValue {
  readonly isAllowed: boolean;

  constructor(isAllowed: boolean) {
    this.isAllowed = isAllowed;
  }
}

const AUTHORIZER_STEPS = ['group', 'resource', 'subresource', 'namespace', 'name'] as const;

/** Adds the functions of Kubernetes beyond CEL itself that are used here. */
function addKubernetesLibrary(environment: Environment): Environment {
  environment.registerType('kubernetes.Quantity', QuantityValue);
  environment.registerType('kubernetes.authorization.Authorizer', AuthorizerValue);
  environment.registerType('kubernetes.authorization.Decision', DecisionValue);
  environment.registerFunction('quantity(string): kubernetes.Quantity', toQuantity);
  environment.registerFunction(
    'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool',
    (a: QuantityValue, b: QuantityValue) => compareQuantities(a.quantity, b.quantity) > 0,
  );
  environment.registerFunction('kubernetes.Quantity.isInteger(): bool', ({ quantity }: QuantityValue) =>
    Number.isInteger(approximateNumber(quantity)),
  );
  environment.registerFunction('kubernetes.Quantity.asInteger(): int', ({ quantity }: QuantityValue) =>
    BigInt(quantityValue(quantity)),
  );
  environment.registerFunction('kubernetes.Quantity.asApproximateFloat(): double', ({ quantity }: QuantityValue) =>
    approximateNumber(quantity),
  );
  environment.registerOperator(
    'kubernetes.Quantity == kubernetes.Quantity',
    (a: QuantityValue, b: QuantityValue) => compareQuantities(a.quantity, b.quantity) === 0,
  );
  environment.registerOperator('optional<dyn> == optional<dyn>', (a: Optional, b: Optional) =>
    isDeepStrictEqual(a.orValue(undefined), b.orValue(undefined)),
  );
  environment.registerFunction('list.min(): dyn', smallest);
  environment.registerFunction('list.sum(): dyn', (list: readonly number[]) =>
    list.reduce((sum, each) => sum + each, 0),
  );
  for (const step of AUTHORIZER_STEPS) {
    const signature = `kubernetes.authorization.Authorizer.${step}(string): kubernetes.authorization.Authorizer`;
    environment.registerFunction(signature, (authorizer: AuthorizerValue) => authorizer);
  }
  environment.registerFunction(
    'kubernetes.authorization.Authorizer.serviceAccount(string, string): kubernetes.authorization.Authorizer',
    (authorizer: AuthorizerValue) => authorizer,
  );
  environment.registerFunction(
    'kubernetes.authorization.Authorizer.check(string): kubernetes.authorization.Decision',
    (authorizer: AuthorizerValue) => authorizer.check(),
  );
  environment.registerFunction(
    'kubernetes.authorization.Decision.allowed(): bool',
    ({ isAllowed }: DecisionValue) => isAllowed,
  );
  return environment;
}

function toQuantity(text: string): QuantityValue {
  const parsed = parseQuantity(text);
  if (parsed.ok) return new QuantityValue(parsed.quantity);
  throw new Error(`quantity: ${JSON.stringify(text)} is not a quantity`);
}

function smallest(list: readonly (bigint | number)[]): bigint | number {
  const [first, ...rest] = list;
  if (first === undefined) throw new Error('min called on empty list');
  return rest.reduce((least, each) => (each < least ? each : least), first);
}
