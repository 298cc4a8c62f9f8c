/**
 * An error in a form safe to log: without its own properties (bodies and headers of API errors) and with bounded text.
 */
export interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: DescribedError;
}

const MAX_MESSAGE_LENGTH = 2_000;
const MAX_STACK_LENGTH = 8_000;
const MAX_CAUSES = 5;

/** Describes any thrown value. */
export function describeError(thrown: unknown, depth = 0): DescribedError {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: bounded(String(thrown), MAX_MESSAGE_LENGTH) };
  const code: unknown = Reflect.get(thrown, 'code');
  return {
    type: thrown.name,
    message: bounded(thrown.message, MAX_MESSAGE_LENGTH),
    ...(typeof code === 'string' && { code }),
    ...(thrown.stack !== undefined && { stack: bounded(thrown.stack, MAX_STACK_LENGTH) }),
    ...(thrown.cause !== undefined && depth < MAX_CAUSES && { cause: describeError(thrown.cause, depth + 1) }),
  };
}

/** One line for people: the messages of the error and its causes. */
export function errorText(thrown: unknown): string {
  const { message, cause } = describeError(thrown);
  return cause === undefined ? message : `${message}: ${cause.message}`;
}

function bounded(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}…`;
}

/** The first line of a message without a trailing colon: parsers append the position below it. */
export function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.replace(/:$/, '') ?? '';
}
