import { type Decoded, decodeObject, type WireObject } from '#shared/kube/decode/wire-object.ts';

/** The decoded value; throws where a case cannot be read, which fails that case alone. */
export function required<T>(decoded: Decoded<T>): T {
  if (decoded.ok) return decoded.value;
  const place = decoded.field === '' ? '' : `${decoded.field}: `;
  throw new Error(`cannot read the case: ${place}${decoded.message}`);
}

/** A case read field by field. */
export function readCase<T>(raw: unknown, read: (vector: WireObject) => T): T {
  return required(decodeObject(raw, read));
}

/** An inner object that another decoder reads. */
export function asIs(object: WireObject): WireObject {
  return object;
}

/** Objects by name. */
export function byName<T extends { readonly name: string }>(objects: readonly T[]): ReadonlyMap<string, T> {
  return new Map(objects.map((object) => [object.name, object]));
}
