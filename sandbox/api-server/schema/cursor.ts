/** What a pass over one body collects. */
export interface DecodeNotes {
  /** Paths of fields that the schema does not know; they are gone from the value. */
  readonly unknown: string[];
}

/** A value that cannot be of the type the schema wants; `message` is in the words of Go's JSON decoder. */
export class DecodeError extends Error {}

/** Where in the body the decoder is; one cursor for a whole pass. */
export interface Cursor {
  readonly path: (string | number)[];
  /** Go's name of the innermost struct. */
  struct: string;
  readonly notes: DecodeNotes;
}

/** `json: cannot unmarshal string into Go struct field PodSpec.spec.priority of type int32`. */
export function wrongType(value: unknown, expected: string, cursor: Cursor): DecodeError {
  const names = cursor.path.filter((step) => typeof step === 'string');
  const place = cursor.struct === '' ? 'Go value' : `Go struct field ${[cursor.struct, ...names].join('.')}`;
  return new DecodeError(`json: cannot unmarshal ${jsonType(value)} into ${place} of type ${expected}`);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return `number ${value}`;
  return value === null ? 'null' : typeof value;
}

/** `spec.containers[0].image`. */
export function pathText(path: readonly (string | number)[]): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
}
