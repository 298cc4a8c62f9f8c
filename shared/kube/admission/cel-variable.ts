/** A named expression of a ValidatingAdmissionPolicy, computed at most once for each evaluation. */
export interface CelVariable {
  readonly name: string;
  readonly expression: string;
}

/** Several lines make one expression. */
export function celVariable(name: string, ...lines: readonly string[]): CelVariable {
  return { name, expression: lines.join('\n') };
}

/**
 * A loop takes time that grows with the square of its length: Kubernetes 1.36.3 keeps each value that it computed until
 * the loop ends, and searches them all. So what a caller can make long is walked in rows of so many.
 */
export const ROW = 100;
/** The numbers below ROW, to walk rows and columns. */
export const NUMBERS = celVariable('numbers', `[${Array.from({ length: ROW }, (_, number) => number).join(', ')}]`);
