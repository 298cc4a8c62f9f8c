import { managedFieldsAfterUpdate } from '#sandbox/api-server/ownership/managed-fields.ts';
import type { KubeObject, ManagedFieldsEntry } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from './api-request.ts';
import { storedSchema, writerOf } from './writer.ts';
import type { ServerState } from './server-state.ts';
import type { WriteOptions } from './write-options.ts';

export interface States {
  readonly current: KubeObject;
  readonly next: KubeObject;
}

/** The managedFields of a changed object: an applier brings its own, other writers own what they changed. */
export function ownersAfter(
  server: ServerState,
  request: ApiRequest,
  options: WriteOptions,
  { current, next }: States,
): ManagedFieldsEntry[] {
  const given = next.metadata.managedFields ?? [];
  if (request.contentType.startsWith('application/apply-patch')) return given;
  const writer = writerOf(server, request, options, next.apiVersion);
  return managedFieldsAfterUpdate(storedSchema(server, request), withEntries(current, given), next, writer);
}

/** A writer that sends entries sets them (kubectl migrates them so); without any the stored ones count, `[{}]` clears them. */
function withEntries(current: KubeObject, given: readonly ManagedFieldsEntry[]): KubeObject {
  if (given.length === 0) return current;
  const managedFields = given.filter((entry) => Object.keys(entry).length > 0);
  return { ...current, metadata: { ...current.metadata, managedFields } };
}
