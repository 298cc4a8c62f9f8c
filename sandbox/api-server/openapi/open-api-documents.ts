import { createHash } from 'node:crypto';
import type { Catalog } from '#sandbox/api-server/catalog/catalog.ts';
import type { ResourceType } from '#sandbox/api-server/resource-type.ts';
import type { JsonSchema } from '#sandbox/api-server/schema/compile-schema.ts';
import type { Definitions } from '#sandbox/api-server/schema/definitions.ts';

/** OpenAPI documents as far as `kubectl apply` and `kubectl explain` read them. */
export interface OpenApi {
  /** The list of documents, each with a hash that changes with its content. */
  readonly index: () => object;
  /** The document of `api/v1` or `apis/apps/v1` as JSON; undefined for an unknown one. */
  readonly document: (path: string) => string | undefined;
  /** All kinds in the old format. */
  readonly swagger: () => string;
}

/** Documents are built on first use, and again after the catalog has changed. */
export function createOpenApi(catalog: Catalog, definitions: Definitions): OpenApi {
  const cache = new Map<string, string>();
  let generation = -1;

  function cached(key: string, make: () => string): string {
    if (generation !== catalog.generation) cache.clear();
    generation = catalog.generation;
    const document = cache.get(key) ?? make();
    cache.set(key, document);
    return document;
  }

  function document(path: string): string | undefined {
    const types = catalog.all().filter((type) => pathOf(type) === path);
    return types.length === 0 ? undefined : cached(path, () => JSON.stringify(openApiV3(types, definitions)));
  }

  function index(): object {
    const paths = [...new Set(catalog.all().map(pathOf))];
    return {
      paths: Object.fromEntries(
        paths.map((path) => [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hashOf(document(path) ?? '')}` }]),
      ),
    };
  }

  return { index, document, swagger: () => cached('v2', () => JSON.stringify(openApiV2(catalog.all(), definitions))) };
}

function pathOf({ group, version }: ResourceType): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`;
}

function hashOf(text: string): string {
  return createHash('sha512').update(text).digest('hex').slice(0, 32).toUpperCase();
}

const INFO = { title: 'Kubernetes', version: 'v1.36.3' };

function openApiV3(types: readonly ResourceType[], definitions: Definitions): object {
  const schemas = definitionsFor(types, definitions);
  return {
    openapi: '3.0.0',
    info: INFO,
    paths: Object.assign({}, ...types.map(pathsOf)) as object,
    components: { schemas: mapValues(schemas, (schema) => expandReferences(schema, '#/components/schemas/')) },
  };
}

function openApiV2(types: readonly ResourceType[], definitions: Definitions): object {
  const schemas = definitionsFor(types, definitions);
  return {
    swagger: '2.0',
    info: INFO,
    paths: Object.assign({}, ...types.map(pathsOf)) as object,
    definitions: mapValues(schemas, (schema) => expandReferences(schema, '#/definitions/')),
  };
}

function mapValues<A, B>(map: ReadonlyMap<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Array.from(map, ([key, value]) => [key, change(value)]));
}

/** Short references become full ones; OpenAPI ignores siblings of a `$ref`, hence `allOf`. */
export function expandReferences(schema: JsonSchema, prefix: string): object {
  const { $ref, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...($ref === undefined ? {} : { allOf: [{ $ref: `${prefix}${$ref}` }] }),
    ...(properties === undefined
      ? {}
      : { properties: mapValues(new Map(Object.entries(properties)), (one) => expandReferences(one, prefix)) }),
    ...(items === undefined ? {} : { items: expandReferences(items, prefix) }),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: expandReferences(additionalProperties, prefix) }
      : {}),
  };
}

const WRITE_PARAMETERS = ['dryRun', 'fieldManager', 'fieldValidation'].map((name) => ({
  name,
  in: 'query',
  schema: { type: 'string', uniqueItems: true },
}));
const FORCE = { name: 'force', in: 'query', schema: { type: 'boolean', uniqueItems: true } };

/** The paths of a kind, as far as clients look up the parameters of a verb. */
function pathsOf(type: ResourceType): object {
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

const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The schemas of the kinds and all schemas that they reference, by name. */
function definitionsFor(types: readonly ResourceType[], definitions: Definitions): Map<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const queue = [DELETE_OPTIONS, OBJECT_META];
  for (const type of types) {
    if (type.openApi === undefined) queue.push(type.definition);
    else found.set(customName(type), type.openApi);
  }
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const schema = definitions.all.get(name);
    if (schema === undefined || found.has(name)) continue;
    found.set(name, schema);
    queue.push(...references(schema));
  }
  return found;
}

/** `dev.plimsoll.v1alpha1.PriorityPolicy`: the definition's name of a custom resource. */
function customName({ group, version, kind }: ResourceType): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`;
}

function references(schema: JsonSchema): string[] {
  const { $ref, properties = {}, items, additionalProperties } = schema;
  const parts = [
    ...Object.values(properties),
    ...(items === undefined ? [] : [items]),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
  return [...($ref === undefined ? [] : [$ref]), ...parts.flatMap(references)];
}
