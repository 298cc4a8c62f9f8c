import type { ResourceType } from '#sandbox/api-server/resource-type.ts';
import { customName } from './reachable-definitions.ts';

const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));
const FORCE = { name: 'force', in: 'query', schema: { type: 'boolean', uniqueItems: true } };

/** The paths of a kind, as far as clients look which parameters a verb takes. */
export function pathsOf(type: ResourceType): object {
  const collection = collectionPath(type);
  const kind = { 'x-kubernetes-group-version-kind': { group: type.group, version: type.version, kind: type.kind } };
  const body = requestBody(type);
  const operation = (action: string, parameters: readonly object[]): object => ({
    ...kind,
    'x-kubernetes-action': action,
    parameters,
    ...(action === 'delete' ? {} : body),
    responses: { 200: { description: 'OK', content: body.requestBody.content } },
  });
  return {
    [collection]: { get: operation('list', []), post: operation('post', WRITE_PARAMETERS) },
    [`${collection}/{name}`]: {
      get: operation('get', []),
      put: operation('put', WRITE_PARAMETERS),
      patch: operation('patch', [...WRITE_PARAMETERS, FORCE]),
      delete: operation('delete', WRITE_PARAMETERS.slice(0, 1)),
    },
  };
}

function collectionPath({ group, version, plural, namespaced }: ResourceType): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  return namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
}

function requestBody(type: ResourceType): { readonly requestBody: { readonly content: object } } {
  const name = type.openApi === undefined ? type.definition : customName(type);
  return { requestBody: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } } };
}
