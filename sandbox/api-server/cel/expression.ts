import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { addKubernetesLibrary } from './kubernetes-library.ts';

/** A CEL expression made ready to be asked often. */
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
