import type { Decoded } from '#shared/kube/decode/wire-object.ts';

/** What was decoded. Throws when it could not be. */
export function valueOf<T>(decoded: Decoded<T>): T {
  if (!decoded.ok) throw new Error(`${decoded.field}: ${decoded.message}`);
  return decoded.value;
}
