import { isFields, type Fields, type KubeObject, type ManagedFieldsEntry } from '#sandbox/api-server/wire/object.ts';
import type { ListSchema, Schema } from '#sandbox/api-server/schema/schema.ts';
import { statusError, type StatusCause, type StatusError } from '#sandbox/api-server/errors/status-error.ts';
import { changedFields } from './changed-fields.ts';
import {
  NO_FIELDS,
  decodeFields,
  intersect,
  isEmptySet,
  pathText,
  pathsOf,
  subtract,
  unite,
  withParents,
  type FieldSet,
  itemStep,
} from './field-set.ts';
import { entryOf, isEntryOf, sorted, without, type Writer } from './managed-fields.ts';
import { fieldSchema, isAtomic, setOfObject } from './set-of-object.ts';

export interface ApplyRequest {
  readonly schema: Schema;
  readonly live: KubeObject;
  /** The configuration of the applier as written, without defaults. */
  readonly wanted: KubeObject;
  readonly writer: Writer;
  /** Takes over fields that others own. */
  readonly force: boolean;
}

/**
 * Server-side apply: merges the configuration into the live object, removes what the applier no longer sets, and
 * refuses to change what others own. Throws the 409 with one cause per field. structured-merge-diff
 * `merge.Updater.Apply`.
 */
export function applyObject({ schema, live, wanted, writer, force }: ApplyRequest): KubeObject {
  const entries = live.metadata.managedFields ?? [];
  const wantedSet = setOfObject(schema, wanted, false);
  const merged = merge(schema, live, wanted) as KubeObject;
  const taken = intersect(changedFields(schema, live, merged).set, wantedSet);
  const conflicts = conflictsOf(entries, writer, subtract(taken, ownedByLastApply(schema, live, writer)));
  if (conflicts.length > 0 && !force) throw applyConflict(conflicts);
  const kept = entries.filter((entry) => !isEntryOf(entry, writer)).map((entry) => without(entry, taken));
  const others = kept.filter((entry) => entry !== undefined);
  const dropped = droppedFields(entries, writer, wantedSet);
  const result = removeFields(schema, merged, subtract(dropped, withParents(ownedBy(others)))) as KubeObject;
  return {
    ...result,
    metadata: { ...result.metadata, managedFields: sorted([...others, entryOf(writer, wantedSet)]) },
  };
}

/** What the applier set last time and no longer sets. */
function droppedFields(entries: readonly ManagedFieldsEntry[], writer: Writer, wantedSet: FieldSet): FieldSet {
  const last = entries.find((entry) => isEntryOf(entry, writer));
  return last === undefined ? NO_FIELDS : subtract(withParents(decodeFields(last.fieldsV1)), withParents(wantedSet));
}

function ownedBy(entries: readonly ManagedFieldsEntry[]): FieldSet {
  return entries.map((entry) => decodeFields(entry.fieldsV1)).reduce(unite, NO_FIELDS);
}

function merge(schema: Schema, live: unknown, wanted: unknown): unknown {
  if (isFields(live) && isFields(wanted) && !isAtomic(schema)) return mergeFields(schema, live, wanted);
  if (Array.isArray(live) && Array.isArray(wanted) && schema.kind === 'list' && schema.listType !== 'atomic') {
    return mergeItems(schema, live, wanted);
  }
  return wanted;
}

function mergeFields(schema: Schema, live: Fields, wanted: Fields): Fields {
  const result: Fields = { ...live };
  for (const [name, value] of Object.entries(wanted)) {
    result[name] = name in live ? merge(fieldSchema(schema, name), live[name], value) : value;
  }
  return result;
}

function mergeItems(schema: ListSchema, live: readonly unknown[], wanted: readonly unknown[]): unknown[] {
  const byStep = new Map(live.map((item) => [itemStep(schema, item), item]));
  for (const item of wanted) {
    const step = itemStep(schema, item);
    byStep.set(step, byStep.has(step) ? merge(schema.items, byStep.get(step), item) : item);
  }
  return Array.from(byStep.values());
}

interface Conflict {
  readonly entry: ManagedFieldsEntry;
  readonly path: string;
}

function conflictsOf(entries: readonly ManagedFieldsEntry[], writer: Writer, taken: FieldSet): Conflict[] {
  const others = entries.filter((entry) => !isEntryOf(entry, writer));
  return others.flatMap((entry) => {
    const shared = intersect(decodeFields(entry.fieldsV1), taken);
    return isEmptySet(shared) ? [] : pathsOf(shared).map((path) => ({ entry, path: pathText(path) }));
  });
}

function applyConflict(conflicts: readonly Conflict[]): StatusError {
  const causes: StatusCause[] = conflicts.map(({ entry, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(entry)}`,
    field: path,
  }));
  return statusError({ code: 409, reason: 'Conflict', message: conflictText(conflicts), details: { causes } });
}

function conflictText(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${managerText(first.entry)}: ${first.path}`;
  }
  const byManager = Map.groupBy(conflicts, ({ entry }) => managerText(entry));
  const lines = Array.from(byManager.keys())
    .sort()
    .flatMap((manager) => [
      `conflicts with ${manager}:`,
      ...(byManager.get(manager) ?? []).map(({ path }) => `- ${path}`),
    ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function managerText(entry: ManagedFieldsEntry): string {
  const subresource = entry.subresource === undefined ? '' : ` with subresource ${JSON.stringify(entry.subresource)}`;
  const name = `${JSON.stringify(entry.manager)}${subresource}`;
  if (entry.operation === 'Apply') return name;
  return `${name} using ${entry.apiVersion}${entry.time === undefined ? '' : ` at ${entry.time}`}`;
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * What `kubectl apply --server-side` takes over without a conflict: the fields that the client's own apply set last and
 * that no other writer has changed since. For other writers nothing.
 * apimachinery `managedfields/internal/lastappliedmanager.go`.
 */
function ownedByLastApply(schema: Schema, live: KubeObject, { manager }: Writer): FieldSet {
  const annotation = live.metadata.annotations?.[LAST_APPLIED];
  if (manager !== 'kubectl' || annotation === undefined) return NO_FIELDS;
  const applied = parse(annotation);
  if (applied === undefined) return NO_FIELDS;
  return subtract(setOfObject(schema, applied, false), changedFields(schema, live, applied).set);
}

function parse(annotation: string): KubeObject | undefined {
  try {
    const value: unknown = JSON.parse(annotation);
    return isFields(value) && isFields(value['metadata']) ? (value as unknown as KubeObject) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A value without the fields of a set. A member with children loses the children; it is removed if nothing is left of
 * it.
 */
function removeFields(schema: Schema, value: unknown, gone: FieldSet): unknown {
  if (isEmptySet(gone)) return value;
  if (isFields(value)) return removeFromFields(schema, value, gone);
  if (Array.isArray(value) && schema.kind === 'list') return removeFromList(schema, value, gone);
  return value;
}

function removeFromFields(schema: Schema, value: Fields, gone: FieldSet): Fields {
  const rest: Fields = {};
  for (const [name, field] of Object.entries(value)) {
    const below = gone.children.get(`f:${name}`);
    if (below === undefined) {
      rest[name] = field;
      continue;
    }
    const left = removeBelow(fieldSchema(schema, name), field, below);
    if (left !== undefined) rest[name] = left;
  }
  return rest;
}

function removeFromList(schema: ListSchema, items: readonly unknown[], gone: FieldSet): unknown[] {
  const rest: unknown[] = [];
  for (const item of items) {
    const below = gone.children.get(itemStep(schema, item));
    const left = below === undefined ? item : removeBelow(schema.items, item, below);
    if (left !== undefined) rest.push(left);
  }
  return rest;
}

/** A leaf is removed; a parent is removed if only its keys are left. */
function removeBelow(schema: Schema, value: unknown, gone: FieldSet): unknown {
  if (gone.isMember) return undefined;
  const left = removeFields(schema, value, gone);
  return isHollow(left) && !isHollow(value) ? undefined : left;
}

function isHollow(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isFields(value) && Object.keys(value).length === 0;
}
