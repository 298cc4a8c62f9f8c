import type { Decoded } from '#shared/kube/decode/decoded.ts';

/** The same decoder, which throws for what cannot be read: a reflector counts and logs what its `slim` throws. */
export function decodeWith<T>(decode: (raw: unknown) => Decoded<T>): (raw: unknown) => T {
  return (raw) => {
    const decoded = decode(raw);
    if (decoded.ok) return decoded.value;
    throw new Error(`${decoded.field}: ${decoded.message}`);
  };
}
