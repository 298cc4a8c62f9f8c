import { isFields, type Fields } from './wire/object.ts';

/** Sets a field that has no value. */
export function setDefault(object: Fields, name: string, value: unknown): void {
  if (object[name] === undefined) object[name] = value;
}

/** The record below `name`, created if there is none. */
export function recordAt(object: object, name: string): Fields {
  const fields = object as Fields;
  const value = fields[name];
  if (isFields(value)) return value;
  const created: Fields = {};
  fields[name] = created;
  return created;
}
