/**
 * Why a decision was taken: `code` from a typed table, `text` a sentence for people, `facts` the values that it was
 * decided on.
 */
export interface Because {
  readonly code: string;
  readonly text: string;
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/** A reason of a catalogue: its code and its text, both made from the given values. */
export interface ReasonMessage<in Values> {
  /** The reason with these values; `facts` are for programs. */
  (values: Values, facts?: Because['facts']): Because;
}

/** An entry of a catalogue of reasons. */
export function reason<Values>(
  code: string | ((values: Values) => string),
  text: (values: Values) => string,
): ReasonMessage<Values> {
  return (values, facts = {}) => ({ code: typeof code === 'string' ? code : code(values), text: text(values), facts });
}
