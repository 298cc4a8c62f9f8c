/** The part of a JSON schema that a reference shows. */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
}

/** A field of a schema. */
export interface SchemaField {
  /** Keys joined by dots; `[]` marks the elements of a list. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
}

/** All fields below a schema, an object before its fields. */
export function schemaFields(schema: JsonSchema, prefix = ''): readonly SchemaField[] {
  const required = schema.required ?? [];
  return Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    const path = `${prefix}${key}`;
    const field = { path, type: typeOf(child), isRequired: required.includes(key), schema: child };
    return [field, ...schemaFields(child, `${path}.`), ...schemaFields(child.items ?? {}, `${path}[].`)];
  });
}

function typeOf(schema: JsonSchema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or string';
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  const values = schema.additionalProperties;
  if (schema.type === 'object' && typeof values === 'object') return `map of ${typeOf(values)}`;
  return schema.format === 'date-time' ? 'time' : (schema.type ?? 'any');
}

/** The values that a field may have according to its schema. */
export function allowedValues({ enum: values, minimum, maximum, items }: JsonSchema): string {
  const listed = values ?? items?.enum;
  if (listed !== undefined) return listed.map((value) => `\`${String(value)}\``).join(', ');
  if (minimum !== undefined && isLimit(maximum)) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `at least ${minimum}`;
  return isLimit(maximum) ? `at most ${maximum}` : '';
}

/** Integer limits of the type itself are not shown. */
function isLimit(value: number | undefined): value is number {
  return value !== undefined && value < Number.MAX_SAFE_INTEGER;
}
