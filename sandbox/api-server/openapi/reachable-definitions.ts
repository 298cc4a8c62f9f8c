import type { ResourceType } from '#sandbox/api-server/resource-type.ts';
import type { JsonSchema } from '#sandbox/api-server/schema/compile-schema.ts';
import type { Definitions } from '#sandbox/api-server/schema/definitions.ts';

const DELETE_OPTIONS = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The schemas that the kinds need, by name: their own and all they refer to. */
export function definitionsFor(types: readonly ResourceType[], definitions: Definitions): Map<string, JsonSchema> {
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
export function customName({ group, version, kind }: ResourceType): string {
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
