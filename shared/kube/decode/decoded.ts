/**
 * A wire object as a domain value, or the first field that could not be read (`spec.containers[0].resources.limits.cpu`,
 * empty for the object itself) and why.
 */
export type Decoded<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly field: string; readonly message: string };

/** Parses a text; the error says where it is no JSON. */
export function parseJson(text: string): Decoded<unknown> {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, field: '', message: `not valid JSON: ${(error as Error).message.slice(0, LONGEST_FAULT)}` };
  }
}

const LONGEST_FAULT = 200;
