import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

/** 400 if the body names a different namespace than the path. */
export function checkNamespace(namespace: string, { metadata }: KubeObject): void {
  if (metadata.namespace === undefined || metadata.namespace === '' || metadata.namespace === namespace) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** 400 if the body names a different object than the path. */
export function nameMismatch(inObject: string, inPath: string): Error {
  return badRequest(`the name of the object (${inObject}) does not match the name on the URL (${inPath})`);
}
