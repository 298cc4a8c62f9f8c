import type { Expression } from '#sandbox/api-server/cel/expression.ts';
import type { AdmissionPolicy, Validation } from './admission-policy.ts';

/** What expressions see, as CEL values and without `variables`. */
export type Activation = Readonly<Record<string, unknown>>;

/** A validation that failed or could not be evaluated. */
export interface Fault {
  readonly kind: 'denied' | 'failed';
  readonly message: string;
  readonly reason: string;
}

/** Longer messages are replaced by the fixed one. `pkg/apis/cel/config.go` MaxEvaluatedMessageExpressionSizeBytes. */
const MAX_MESSAGE_BYTES_LENGTH = 5 * 1_024;

/** The failures of a policy; none if a match condition excludes this request. */
export function evaluatePolicy(policy: AdmissionPolicy, activation: Activation): readonly Fault[] {
  const failures: Fault[] = [];
  for (const { name, expression } of policy.conditions) {
    const met = attempt(expression, activation);
    if (met.ok && met.value !== true) return [];
    if (!met.ok) failures.push(failed(`expression for match condition ${JSON.stringify(name)} failed: ${met.message}`));
  }
  if (failures.length > 0) return failures;
  const complete = { ...activation, variables: lazily(policy, activation) };
  return policy.validations.flatMap((validation) => faultOf(validation, complete));
}

function faultOf(validation: Validation, activation: Activation): readonly Fault[] {
  const held = attempt(validation.expression, activation);
  if (!held.ok) return [failed(`expression '${validation.text}' resulted in error: ${held.message}`)];
  if (held.value === true) return [];
  return [{ kind: 'denied', message: messageOf(validation, activation), reason: validation.reason }];
}

function messageOf({ message, messageExpression, text }: Validation, activation: Activation): string {
  const computed = messageExpression === undefined ? undefined : attempt(messageExpression, activation);
  const said = computed?.ok === true && typeof computed.value === 'string' ? computed.value.trim() : '';
  const isUsable = said !== '' && !said.includes('\n') && Buffer.byteLength(said) <= MAX_MESSAGE_BYTES_LENGTH;
  if (isUsable) return said;
  return message === '' ? `failed expression: ${text}` : message;
}

/** Variables are computed once, on first use, and may use earlier ones. */
function lazily({ variables }: AdmissionPolicy, activation: Activation): object {
  const values = {};
  const complete = { ...activation, variables: values };
  for (const { name, expression } of variables) {
    Object.defineProperty(values, name, {
      configurable: true,
      enumerable: true,
      get: () => {
        const value = expression.evaluate(complete);
        Object.defineProperty(values, name, { value, enumerable: true });
        return value;
      },
    });
  }
  return values;
}

type EvaluationResult =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

function attempt(expression: Expression, activation: Activation): EvaluationResult {
  try {
    return { ok: true, value: expression.evaluate(activation) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

function failed(message: string): Fault {
  return { kind: 'failed', message, reason: 'Invalid' };
}
