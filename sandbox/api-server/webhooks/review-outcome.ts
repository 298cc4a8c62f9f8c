import { randomUUID } from 'node:crypto';
import type { Attributes } from '#sandbox/api-server/admission.ts';
import { omit, type Fields, isFields, numberAt, textAt } from '#sandbox/api-server/wire/object.ts';
import { statusError, type StatusError } from '#sandbox/api-server/errors/status-error.ts';

/** The `request` of an AdmissionReview, in the shape recorded from a real API server; each call has a UID of its own. */
export function reviewRequest(attributes: Attributes): Fields {
  const { type, kind, subresource, namespace, name, operation, user } = attributes;
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind };
  const resource = { group: type.group, version: type.version, resource: type.plural };
  const generated = attributes.object?.metadata.name === '';
  return {
    uid: randomUUID(),
    kind: gvk,
    resource,
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: gvk,
    requestResource: resource,
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: user,
    object: generated ? withoutName(attributes.object) : (attributes.object ?? null),
    oldObject: attributes.previous ?? null,
    dryRun: attributes.isDryRun,
    options: attributes.options,
  };
}

/** A name that is still to be generated is absent, not empty. */
function withoutName(object: Attributes['object']): object | null {
  if (object === undefined) return null;
  return { ...object, metadata: omit(object.metadata, 'name') };
}

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

/** The JSON patch of a mutating webhook, or undefined if it changes nothing. Throws an Error for an invalid patch. */
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
