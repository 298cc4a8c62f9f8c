import { randomUUID } from 'node:crypto';
import type { Attributes } from '#sandbox/api-server/admission.ts';
import { omit, type Fields } from '#sandbox/api-server/wire/object.ts';

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
