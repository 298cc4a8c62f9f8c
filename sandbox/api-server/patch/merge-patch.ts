import { isFields, type Fields } from '#sandbox/api-server/wire/object.ts';

/** RFC 7386: fields of the patch win, null removes, lists are replaced. Neither argument is changed. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  const result: Fields = isFields(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) Reflect.deleteProperty(result, name);
    else result[name] = applyMergePatch(result[name], value);
  }
  return result;
}
