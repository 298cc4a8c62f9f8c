import type { FieldTree } from '#cli/review/cluster-state.ts';
import type { Definition } from '#tools/references/describe-objects.ts';
import type { JsonSchema } from '#tools/references/schema-fields.ts';

/** The names of all fields that objects of these definitions can have, by kind. */
export function fieldTrees(definitions: readonly Definition[]): Readonly<Record<string, FieldTree | true>> {
  return Object.fromEntries(
    definitions.map(({ spec: { names, versions } }) => {
      const { properties = {} } = versions[0]?.schema.openAPIV3Schema ?? {};
      return [names.kind, { ...ENVELOPE, ...treesOf(properties), metadata: true }];
    }),
  );
}

const ENVELOPE = { apiVersion: true, kind: true } as const;

function treeOf({ properties, items, additionalProperties }: JsonSchema): FieldTree | true {
  if (items !== undefined) return treeOf(items);
  if (typeof additionalProperties === 'object') return { '*': treeOf(additionalProperties) };
  if (properties === undefined) return true;
  return treesOf(properties);
}

function treesOf(properties: Readonly<Record<string, JsonSchema>>): FieldTree {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, treeOf(schema)]));
}
