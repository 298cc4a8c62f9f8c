import type { Environment } from '@marcbachmann/cel-js';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { compareQuantities, type Quantity } from '#shared/domain/quantity/quantity.ts';

/** A quantity as an expression holds it. */
class QuantityValue {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }
}

/** The `authorizer` of an expression, at any step of a question. */
export class AuthorizerValue {
  /** In the sandbox every user may do everything. */
  check(): DecisionValue {
    return new DecisionValue(true);
  }
}

/** What an authorization check comes to. */
class DecisionValue {
  readonly isAllowed: boolean;

  constructor(isAllowed: boolean) {
    this.isAllowed = isAllowed;
  }
}

const AUTHORIZER_STEPS = ['group', 'resource', 'subresource', 'namespace', 'name'] as const;

/** Adds what Kubernetes' expressions may use in addition to CEL itself, as far as anything here uses it. */
export function addKubernetesLibrary(environment: Environment): Environment {
  environment.registerType('kubernetes.Quantity', QuantityValue);
  environment.registerType('kubernetes.authorization.Authorizer', AuthorizerValue);
  environment.registerType('kubernetes.authorization.Decision', DecisionValue);
  environment.registerFunction('quantity(string): kubernetes.Quantity', toQuantity);
  environment.registerFunction(
    'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool',
    (a: QuantityValue, b: QuantityValue) => compareQuantities(a.quantity, b.quantity) > 0,
  );
  environment.registerOperator(
    'kubernetes.Quantity == kubernetes.Quantity',
    (a: QuantityValue, b: QuantityValue) => compareQuantities(a.quantity, b.quantity) === 0,
  );
  environment.registerFunction('list.min(): dyn', smallest);
  for (const step of AUTHORIZER_STEPS) {
    const signature = `kubernetes.authorization.Authorizer.${step}(string): kubernetes.authorization.Authorizer`;
    environment.registerFunction(signature, (authorizer: AuthorizerValue) => authorizer);
  }
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
