import { fieldsAt, isFields, type Fields } from '#sandbox/api-server/wire/object.ts';

/** Words that CEL keeps for itself. */
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);
const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/__/g, '__underscores__'],
  [/\./g, '__dot__'],
  [/-/g, '__dash__'],
  [/\//g, '__slash__'],
];

/** How a rule writes the name of a property: `self.__namespace__`. apiserver `pkg/cel/escaping.go` Escape. */
export function escapedName(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return SIGNS.reduce((text, [sign, escaped]) => text.replace(sign, escaped), name);
}

/** A value with its properties named as rules write them. Keys of maps are data, and stay as they are. */
export function escapeProperties(value: unknown, schema: Fields): unknown {
  if (Array.isArray(value)) return value.map((item) => escapeProperties(item, fieldsAt(schema, 'items')));
  if (!isFields(value)) return value;
  const properties = fieldsAt(schema, 'properties');
  const values = fieldsAt(schema, 'additionalProperties');
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) =>
      Object.hasOwn(properties, name)
        ? [escapedName(name), escapeProperties(item, fieldsAt(properties, name))]
        : [name, escapeProperties(item, values)],
    ),
  );
}
