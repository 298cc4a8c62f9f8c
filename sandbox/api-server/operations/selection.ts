import { badRequest } from '#sandbox/api-server/errors/errors.ts';
import { parseFieldQuery } from '#sandbox/api-server/selectors/field-query.ts';
import { parseLabelQuery } from '#sandbox/api-server/selectors/label-query.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from './api-request.ts';

/** Which objects of a collection a list, watch or deletecollection is about. */
export type Selection = (object: KubeObject) => boolean;

const ALL: Selection = () => true;

/** Reads namespace, label and field selector of a request. Throws 400 for a selector that cannot be read. */
export function readSelection(request: ApiRequest): Selection {
  const { namespace, query } = request;
  const tests = [inNamespace(namespace), byLabels(query.get('labelSelector') ?? ''), byFields(request)].filter(
    (test) => test !== ALL,
  );
  if (tests.length === 0) return ALL;
  return (object) => tests.every((test) => test(object));
}

function inNamespace(namespace: string): Selection {
  return namespace === '' ? ALL : (object) => object.metadata.namespace === namespace;
}

function byLabels(text: string): Selection {
  if (text === '') return ALL;
  const matches = parseLabelQuery(text);
  return (object) => matches(object.metadata.labels ?? {});
}

function byFields(request: ApiRequest): Selection {
  const { type, query, name } = request;
  const text = query.get('fieldSelector') ?? '';
  const fields = parseFieldQuery(text, type.fieldReaders);
  if (name === '') return text === '' ? ALL : fields.matches;
  if (fields.name !== undefined && fields.name !== name)
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  return (object) => object.metadata.name === name && fields.matches(object);
}
