import jsonPatch, { type Operation } from 'fast-json-patch';
import { copyOf } from '#sandbox/api-server/wire/object.ts';
import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import { statusError } from '#sandbox/api-server/errors/status-error.ts';

/** More operations than this are refused, as by the real server. */
const MOST_OPERATIONS = 10_000;

/**
 * RFC 6902. The target is not changed. Throws 400 for what is no patch, 413 for too many operations, 422 for one that
 * cannot be carried out.
 */
export function applyJsonPatch<T>(target: T, patch: unknown): T {
  if (!Array.isArray(patch))
    throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  if (patch.length > MOST_OPERATIONS) throw tooManyOperations(patch.length);
  try {
    return jsonPatch.applyPatch(copyOf(target), patch as Operation[], true, true, true).newDocument;
  } catch (error) {
    throw unprocessable(error);
  }
}

function tooManyOperations(count: number): Error {
  const message = `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${count}`;
  return statusError({ code: 413, reason: 'RequestEntityTooLarge', message });
}

/** The library's message carries the whole document after the first line. */
function unprocessable(error: unknown): Error {
  const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  return statusError({
    code: 422,
    reason: 'Invalid',
    message: `the server rejected our request due to an error in our request: ${message}`,
  });
}
