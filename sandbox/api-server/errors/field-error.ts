import type { StatusCause } from './status-error.ts';

/** One mistake in one field, in the kinds of `apimachinery/pkg/util/validation/field`. */
export interface FieldError {
  readonly kind: FieldErrorKind;
  readonly field: string;
  /** What follows the words of the kind, such as the quoted value. */
  readonly text: string;
}

export type FieldErrorKind =
  | 'Required'
  | 'Invalid'
  | 'TypeInvalid'
  | 'NotSupported'
  | 'Forbidden'
  | 'Duplicate'
  | 'TooLong'
  | 'TooMany'
  | 'NotFound';

const WORDS: Readonly<Record<FieldErrorKind, string>> = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  TypeInvalid: 'Invalid value',
  NotSupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  Duplicate: 'Duplicate value',
  TooLong: 'Too long',
  TooMany: 'Too many',
  NotFound: 'Not found',
};

/** `spec.x: Required value: why`. */
export function required(field: string, why = ''): FieldError {
  return { kind: 'Required', field, text: why };
}

/** `spec.x: Invalid value: "bad": why`. */
export function invalidValue(field: string, value: unknown, why: string): FieldError {
  return { kind: 'Invalid', field, text: `${valueText(value)}: ${why}` };
}

/** `spec.x: Invalid value: "string": why`, for a value of the wrong type. */
export function wrongType(field: string, value: unknown, why: string): FieldError {
  return { kind: 'TypeInvalid', field, text: `${valueText(value)}: ${why}` };
}

/** `spec.x: Unsupported value: "bad": supported values: "A", "B"`. */
export function unsupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const list = supported.map((one) => JSON.stringify(one)).join(', ');
  return { kind: 'NotSupported', field, text: `${valueText(value)}: supported values: ${list}` };
}

/** `spec.x: Forbidden: why`. */
export function forbiddenField(field: string, why: string): FieldError {
  return { kind: 'Forbidden', field, text: why };
}

/** `spec.x: Duplicate value: "again"`. */
export function duplicate(field: string, value: unknown): FieldError {
  return { kind: 'Duplicate', field, text: valueText(value) };
}

/** `spec.x: Not found: "name"`. */
export function absent(field: string, value: unknown): FieldError {
  return { kind: 'NotFound', field, text: valueText(value) };
}

/** `spec.x: Too long: may not be more than 63 bytes`. */
export function tooLong(field: string, limit: number): FieldError {
  return { kind: 'TooLong', field, text: `may not be more than ${limit} bytes` };
}

/** `spec.x: Too many: 5: must have at most 3 items`. */
export function tooMany(field: string, count: number, limit: number): FieldError {
  return { kind: 'TooMany', field, text: `${count}: must have at most ${limit} items` };
}

/** The mistake as a sentence of the Status message. */
export function invalidText(error: FieldError): string {
  return `${error.field}: ${withoutField(error)}`;
}

/** The mistake as a cause of the Status details. */
export function invalidCause(error: FieldError): StatusCause {
  return { reason: `FieldValue${error.kind}`, message: withoutField(error), field: error.field };
}

/** The cause that a printed mistake stands for: `value: Forbidden: why`. */
export function causeOfText(text: string): StatusCause {
  const [field = '', words = ''] = text.split(': ', 2);
  const kind = Object.entries(WORDS).find(([, known]) => known === words)?.[0] ?? 'Invalid';
  return { reason: `FieldValue${kind}`, message: text.slice(field.length + 2), field };
}

function withoutField(error: FieldError): string {
  return error.text === '' ? WORDS[error.kind] : `${WORDS[error.kind]}: ${error.text}`;
}

function valueText(value: unknown): string {
  return JSON.stringify(value ?? null);
}
