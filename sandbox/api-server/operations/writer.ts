import type { Writer } from '#sandbox/api-server/ownership/managed-fields.ts';
import type { Schema } from '#sandbox/api-server/schema/schema.ts';
import { timeText } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from './api-request.ts';
import type { ServerState } from './server-state.ts';
import type { WriteOptions } from './write-options.ts';

/** The writer, for managedFields. */
export function writerOf(
  { clock }: ServerState,
  { subresource }: ApiRequest,
  { manager }: WriteOptions,
  apiVersion: string,
): Writer {
  return { manager, operation: 'Update', apiVersion, subresource, time: timeText(clock.now()) };
}

/** The schema of the stored version, which for Events is not that of the request. */
export function storedSchema({ catalog }: ServerState, { type }: ApiRequest): Schema {
  if (type.toStorage === undefined) return type.schema;
  return catalog.find('', 'v1', type.plural)?.schema ?? type.schema;
}
