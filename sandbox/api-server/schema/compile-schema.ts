import { ANY, type ListSchema, type ObjectSchema, type ScalarType, type Schema } from './schema.ts';

/** The part of OpenAPI and of CRD structural schemas that decides the shape. */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly $ref?: string;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

/** What compiling needs in addition to the schema itself. */
export interface CompileContext {
  /** Go's name of the type, for error texts. */
  readonly name: string;
  readonly resolve: (reference: string) => Schema;
  /** The definition's full name: some types are not what their OpenAPI says. */
  readonly special?: string;
  /** Called with the object while its fields are still missing. */
  readonly register?: (schema: ObjectSchema) => void;
}

const SPECIAL: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', { kind: 'scalar', type: 'quantity' }],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', { kind: 'scalar', type: 'int-or-string' }],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', ANY],
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', ANY],
]);

/** Compiles one schema with all it refers to. */
export function compileSchema(schema: JsonSchema, context: CompileContext): Schema {
  const special = context.special === undefined ? undefined : SPECIAL.get(context.special);
  if (special !== undefined) return special;
  if (schema.$ref !== undefined) return resolved(schema, schema.$ref, context);
  if (schema['x-kubernetes-int-or-string'] === true) return { kind: 'scalar', type: 'int-or-string' };
  switch (schema.type) {
    case 'object':
      return compileObject(schema, context);
    case 'array':
      return compileList(schema, context);
    case undefined:
      return ANY;
    default:
      return { kind: 'scalar', type: scalarType(schema) };
  }
}

/** A reference may add how the field is patched or owned to what its type says. */
function resolved(schema: JsonSchema, reference: string, context: CompileContext): Schema {
  const target = context.resolve(reference);
  if (target.kind !== 'object') return target;
  const isAtomic = target.isAtomic || schema['x-kubernetes-map-type'] === 'atomic';
  const patchStrategy = schema['x-kubernetes-patch-strategy'] ?? target.patchStrategy;
  if (isAtomic === target.isAtomic && patchStrategy === target.patchStrategy) return target;
  return { ...target, isAtomic, patchStrategy };
}

function compileObject(schema: JsonSchema, context: CompileContext): Schema {
  const isAtomic = schema['x-kubernetes-map-type'] === 'atomic';
  if (schema.properties === undefined) return compileMap(schema, isAtomic, context);
  const fields = new Map<string, Schema>();
  const result: ObjectSchema = {
    kind: 'object',
    name: context.name,
    fields,
    required: new Set(schema.required),
    isAtomic,
    keepsUnknown: schema['x-kubernetes-preserve-unknown-fields'] === true,
    patchStrategy: schema['x-kubernetes-patch-strategy'] ?? '',
  };
  // Before its fields are compiled, because they may refer back to it.
  context.register?.(result);
  for (const [name, field] of Object.entries(schema.properties))
    fields.set(name, compileSchema(field, unnamed(context)));
  return result;
}

function compileMap(schema: JsonSchema, isAtomic: boolean, context: CompileContext): Schema {
  const values = schema.additionalProperties;
  if (typeof values === 'object') return { kind: 'map', values: compileSchema(values, unnamed(context)), isAtomic };
  const keepsUnknown = values === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (keepsUnknown || context.special !== undefined) return { kind: 'map', values: ANY, isAtomic };
  return {
    kind: 'object',
    name: context.name,
    fields: new Map(),
    required: new Set(),
    isAtomic,
    keepsUnknown,
    patchStrategy: '',
  };
}

function compileList(schema: JsonSchema, context: CompileContext): ListSchema {
  const mapKeys = schema['x-kubernetes-list-map-keys'] ?? [];
  return {
    kind: 'list',
    items: schema.items === undefined ? ANY : compileSchema(schema.items, unnamed(context)),
    listType: schema['x-kubernetes-list-type'] ?? 'atomic',
    mapKeys,
    keyDefaults: Object.fromEntries(mapKeys.filter((key) => key === 'protocol').map((key) => [key, 'TCP'])),
    patchStrategy: schema['x-kubernetes-patch-strategy'] ?? '',
    patchMergeKey: schema['x-kubernetes-patch-merge-key'] ?? '',
  };
}

function unnamed(context: CompileContext): CompileContext {
  return { name: context.name, resolve: context.resolve };
}

const SCALARS: Readonly<Record<string, ScalarType>> = {
  'integer/int32': 'int32',
  'integer/int64': 'int64',
  'integer/': 'int64',
  'number/double': 'number',
  'number/': 'number',
  'boolean/': 'boolean',
  'string/byte': 'bytes',
  'string/date-time': 'time',
};

function scalarType(schema: JsonSchema): ScalarType {
  return SCALARS[`${schema.type ?? ''}/${schema.format ?? ''}`] ?? 'string';
}
