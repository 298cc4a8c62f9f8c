/** One JSON object of a request or of the store; its fields are `unknown` until a decoder has looked at them. */
export type Fields = Record<string, unknown>;

/** An object as the server keeps it. It is changed only between decoding and storing, never afterwards. */
export interface KubeObject {
  kind: string;
  apiVersion: string;
  metadata: Metadata;
}

export interface Metadata {
  name: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** Who set which fields; `fieldsV1` is the trie of `meta/v1` FieldsV1. */
export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time?: string;
  fieldsType: string;
  fieldsV1: Fields;
  subresource?: string;
}

/** Whether a JSON value is an object with fields, so neither a list nor null. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object, to access those that differ by kind (`spec`, `status`, `data`). */
export function fieldsOf(object: object): Fields {
  return object as Fields;
}

/** The object below `name`, or an empty one if there is none. */
export function fieldsAt(object: object, name: string): Fields {
  const value = (object as Fields)[name];
  return isFields(value) ? value : {};
}

/** The list below `name`, or an empty one if there is none. */
export function listAt(object: object, name: string): readonly Fields[] {
  const value = (object as Fields)[name];
  return Array.isArray(value) ? (value as Fields[]) : [];
}

/** The text below `name`, or empty text. */
export function textAt(object: object, name: string): string {
  const value = (object as Fields)[name];
  return typeof value === 'string' ? value : '';
}

/** The number below `name`, if there is one. */
export function numberAt(object: object, name: string): number | undefined {
  const value = (object as Fields)[name];
  return typeof value === 'number' ? value : undefined;
}

/** The list of texts below `name`, or an empty one. */
export function textsAt(object: object, name: string): string[] {
  const value = (object as Fields)[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/** A scalar as people read it; anything else is empty text. */
export function scalarText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** The fields without some of them; the object itself is not changed. */
export function omit(object: object, ...names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** A deep copy of an object; managedFields, which are only ever replaced as a whole, are shared. */
export function copyObject(object: KubeObject): KubeObject {
  const { managedFields } = object.metadata;
  const copy = copyOf({ ...object, metadata: omit(object.metadata, 'managedFields') }) as unknown as KubeObject;
  if (managedFields !== undefined) copy.metadata.managedFields = managedFields;
  return copy;
}

/** A deep copy of plain JSON, so that a stored object can be the base of a new one. */
export function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item)) as T;
  if (!isFields(value)) return value;
  const copy: Fields = {};
  for (const key of Object.keys(value)) setOwn(copy, key, copyOf((value as Fields)[key]));
  return copy as T;
}

/** A key named `__proto__` is data like any other. */
function setOwn(fields: Fields, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
  else fields[key] = value;
}

/** `2026-01-31T12:00:00Z`: a time as `meta/v1` Time spells it. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
