import type { z } from 'zod';

/** One value that a configuration file, the environment or a flag may set. */
export interface Setting {
  /** Keys from the top of the file. */
  readonly path: readonly string[];
  readonly flag: string;
  readonly variable: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'list';
  readonly description: string;
}

/** A strict object schema whose leaves are settings; lists of objects and maps can be set by file alone. */
export type ConfigurationSchema = z.ZodObject;

const WRAPPERS = new Set(['default', 'prefault', 'optional', 'nullable', 'readonly', 'nonoptional', 'catch']);
const KINDS: Readonly<Record<string, Setting['kind']>> = {
  string: 'text',
  enum: 'text',
  literal: 'text',
  union: 'text',
  pipe: 'text',
  number: 'number',
  boolean: 'boolean',
};

/** Every setting of a schema, nested objects flattened: key `tls.mode` has flag `--tls-mode` and variable `PREFIX_TLS_MODE`. */
export function listSettings(schema: ConfigurationSchema, envPrefix: string, path: readonly string[] = []): Setting[] {
  return Object.entries(schema.shape).flatMap(([key, child]) => {
    const inner = unwrap(child as z.ZodType);
    const childPath = [...path, key];
    if (isObject(inner)) return listSettings(inner, envPrefix, childPath);
    const kind = kindOf(inner);
    return kind === undefined ? [] : [describe(child as z.ZodType, { childPath, kind, envPrefix })];
  });
}

/** The keys that a file may have at `path`. */
export function knownKeys(schema: ConfigurationSchema, path: readonly PropertyKey[]): readonly string[] {
  let current: z.ZodType = schema;
  for (const key of path) current = childAt(current, key) ?? current;
  return isObject(current) ? Object.keys(current.shape) : [];
}

function childAt(schema: z.ZodType, key: PropertyKey): z.ZodType | undefined {
  if (isObject(schema))
    return Object.hasOwn(schema.shape, key) ? unwrap(schema.shape[String(key)] as z.ZodType) : undefined;
  const { element, valueType } = schema.def as { element?: z.ZodType; valueType?: z.ZodType };
  const inner = element ?? valueType;
  return inner === undefined ? undefined : unwrap(inner);
}

function describe(
  schema: z.ZodType,
  { childPath, kind, envPrefix }: { childPath: readonly string[]; kind: Setting['kind']; envPrefix: string },
): Setting {
  const words = childPath.flatMap((key) => key.split(/(?=[A-Z])/)).map((word) => word.toLowerCase());
  return {
    path: childPath,
    flag: `--${words.join('-')}`,
    variable: `${envPrefix}_${words.join('_').toUpperCase()}`,
    kind,
    description: schema.description ?? unwrap(schema).description ?? '',
  };
}

function kindOf(schema: z.ZodType): Setting['kind'] | undefined {
  if (schema.def.type !== 'array') return KINDS[schema.def.type];
  const { element } = schema.def as unknown as { element: z.ZodType };
  return KINDS[unwrap(element).def.type] === 'text' ? 'list' : undefined;
}

function unwrap(schema: z.ZodType): z.ZodType {
  const { type, innerType } = schema.def as unknown as { type: string; innerType?: z.ZodType };
  return WRAPPERS.has(type) && innerType !== undefined ? unwrap(innerType) : schema;
}

function isObject(schema: z.ZodType): schema is z.ZodObject {
  return schema.def.type === 'object';
}
