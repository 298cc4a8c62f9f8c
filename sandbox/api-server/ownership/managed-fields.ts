import { compareTexts } from '#shared/domain/base/texts.ts';
import type { KubeObject, ManagedFieldsEntry } from '#sandbox/api-server/wire/object.ts';
import type { Schema } from '#sandbox/api-server/schema/schema.ts';
import { changedFields } from './changed-fields.ts';
import { decodeFields, encodeFields, isEmptySet, subtract, touches, unite, type FieldSet } from './field-set.ts';
import { setOfObject } from './set-of-object.ts';

/** The writer, the operation and the time. */
export interface Writer {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  /** `2026-01-31T12:00:00Z`. */
  readonly time: string;
}

/** Makes the entry of a writer. */
export function entryOf(writer: Writer, fields: FieldSet): ManagedFieldsEntry {
  return {
    manager: writer.manager,
    operation: writer.operation,
    apiVersion: writer.apiVersion,
    time: writer.time,
    fieldsType: 'FieldsV1',
    fieldsV1: encodeFields(fields),
    ...(writer.subresource === '' ? {} : { subresource: writer.subresource }),
  };
}

/** Whether an entry belongs to the writer. */
export function isEntryOf(entry: ManagedFieldsEntry, writer: Writer): boolean {
  return (
    entry.manager === writer.manager &&
    entry.operation === writer.operation &&
    (entry.subresource ?? '') === writer.subresource &&
    entry.apiVersion === writer.apiVersion
  );
}

/** The entries of a new object: its writer owns all that it sets. */
export function managedFieldsOfNew(schema: Schema, object: KubeObject, writer: Writer): ManagedFieldsEntry[] {
  const set = setOfObject(schema, object, true);
  return isEmptySet(set) ? [] : [entryOf(writer, set)];
}

/**
 * The entries after an update: changed fields belong only to the writer. apimachinery `managedfields/internal`,
 * structured-merge-diff `merge.Updater.Update`.
 */
export function managedFieldsAfterUpdate(
  schema: Schema,
  before: KubeObject,
  after: KubeObject,
  writer: Writer,
): ManagedFieldsEntry[] {
  const entries = before.metadata.managedFields ?? [];
  const { set, removed } = changedFields(schema, before, after);
  if (isEmptySet(set) && isEmptySet(removed)) return entries;
  const others = entries
    .filter((entry) => !isEntryOf(entry, writer))
    .map((entry) => without(entry, unite(set, removed)));
  const own = entries.find((entry) => isEntryOf(entry, writer));
  const kept = own === undefined ? set : unite(subtract(decodeFields(own.fieldsV1), removed), set);
  return sorted([
    ...others.filter((entry) => entry !== undefined),
    ...(isEmptySet(kept) ? [] : [entryOf(writer, kept)]),
  ]);
}

/** An entry without some fields, or undefined if nothing is left; the same entry if nothing was removed. */
export function without(entry: ManagedFieldsEntry, taken: FieldSet): ManagedFieldsEntry | undefined {
  if (!touches(entry.fieldsV1, taken)) return entry;
  const rest = subtract(decodeFields(entry.fieldsV1), taken);
  return isEmptySet(rest) ? undefined : { ...entry, fieldsV1: encodeFields(rest) };
}

/** Applied entries first, then by time, then by manager: the order in which clients expect them. */
export function sorted(entries: readonly ManagedFieldsEntry[]): ManagedFieldsEntry[] {
  return entries.toSorted(
    (a, b) =>
      compareTexts(a.operation, b.operation) ||
      compareTexts(a.time ?? '', b.time ?? '') ||
      compareTexts(a.manager, b.manager),
  );
}
