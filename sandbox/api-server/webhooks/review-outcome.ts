import { statusError, type StatusError } from '#sandbox/api-server/errors/status-error.ts';
import { isFields, numberAt, textAt, type Fields } from '#sandbox/api-server/wire/object.ts';

/** The refusal of a webhook as the client sees it. apiserver `pkg/admission/plugin/webhook/errors/statuserror.go`. */
export function denialOf(name: string, response: Fields): StatusError {
  const status = isFields(response['status']) ? response['status'] : {};
  const reason = textAt(status, 'reason');
  const words = textAt(status, 'message') || reason;
  const denied = `admission webhook ${JSON.stringify(name)} denied the request`;
  return statusError({
    code: Math.max(400, numberAt(status, 'code') ?? 0),
    message: words === '' ? `${denied} without explanation` : `${denied}: ${words}`,
    ...(reason === '' ? {} : { reason }),
    ...(isFields(status['details']) ? { details: status['details'] } : {}),
  });
}

/** The JSON patch of a mutating webhook, or undefined where it changes nothing. Throws an Error for what is none. */
export function patchOf(response: Fields): unknown {
  const patch = response['patch'];
  const type = response['patchType'];
  if (patch === undefined || patch === null || patch === '') {
    if (type === undefined || type === null) return undefined;
    throw new Error('received invalid webhook response: webhook returned response.patchType but not response.patch');
  }
  if (type === undefined)
    throw new Error('received invalid webhook response: webhook returned response.patch but not response.patchType');
  if (type !== 'JSONPatch')
    throw new Error(
      `received invalid webhook response: webhook returned invalid response.patchType of ${JSON.stringify(type)}`,
    );
  return decodePatch(patch);
}

function decodePatch(patch: unknown): unknown {
  try {
    return JSON.parse(Buffer.from(String(patch), 'base64').toString());
  } catch (error) {
    throw new Error('received undecodable patch in webhook response: it is not base64 of JSON', { cause: error });
  }
}
