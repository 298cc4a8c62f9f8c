import type { Decoded } from '#shared/kube/decoded.ts';

/** The decoded value; throws where a case cannot be read, which fails that case alone. */
export function required<T>(decoded: Decoded<T>): T {
  if (decoded.ok) return decoded.value;
  throw new Error(`cannot read the case: ${decoded.field}: ${decoded.message}`);
}
