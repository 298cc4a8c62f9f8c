/**
 * A wire object as a domain value, or the first field that could not be read (`spec.containers[0].resources.limits.cpu`,
 * empty for the object itself) and why.
 */
export type Decoded<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly field: string; readonly message: string };
