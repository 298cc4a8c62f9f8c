import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

/** An object as a shared decision reads it. Throws 400 where it cannot be read. */
export function decodeForPlugin<T>(object: KubeObject, decode: (raw: unknown) => Decoded<T>): T {
  const decoded = decode(object);
  if (decoded.ok) return decoded.value;
  throw badRequest(`${object.kind} ${decoded.field}: ${decoded.message}`);
}
