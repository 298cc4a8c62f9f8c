import { copyOf, fieldsAt, isFields, type Fields } from '#sandbox/api-server/wire/object.ts';

/** Puts the schema's defaults where the value has nothing, in place, from the outside in. Nulls that may not be are gaps. */
export function fillDefaults(schema: Fields, value: unknown): void {
  if (Array.isArray(value)) {
    if (isFields(schema['items'])) for (const item of value) fillDefaults(schema['items'], item);
    return;
  }
  if (!isFields(value)) return;
  fillProperties(fieldsAt(schema, 'properties'), value);
  const values = schema['additionalProperties'];
  if (isFields(values)) for (const item of Object.values(value)) fillDefaults(values, item);
}

function fillProperties(properties: Fields, value: Fields): void {
  for (const [name, property] of Object.entries(properties)) {
    if (!isFields(property)) continue;
    const isGap = value[name] === undefined || (value[name] === null && property['nullable'] !== true);
    if (isGap && property['default'] !== undefined) value[name] = copyOf(property['default']);
    if (value[name] !== undefined) fillDefaults(property, value[name]);
  }
}
